// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compile/depth_weights.h"

#include <span>

/// What the kinds of mixing weights share. Private to this folder.
namespace residua::engine {

/// One term of one mix.
struct DepthTerm {
    std::size_t reader = 0;
    int output = 0;
    std::int64_t source = 0;
};
/// All terms, by reader, output and source.
[[nodiscard]] std::vector<DepthTerm> termsOf(const std::vector<DepthReader>& readers);

/// The weight with which a term starts.
[[nodiscard]] double startOf(const projects::DepthMix& mix, const DepthReader& reader, std::int64_t source);

/// Adds to `result` the matrices "<kind>" (one per port where readers have several) of a value per term; NaN where
/// there is no shortcut.
void addMatrices(std::vector<Matrix>& result, const std::string& kind, const std::vector<DepthReader>& readers,
                 const std::vector<DepthTerm>& terms, std::span<const float> values, std::int64_t step);

} // namespace residua::engine
