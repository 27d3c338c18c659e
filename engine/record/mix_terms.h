// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "projects/topology.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// What the mixing weights of a DepthMix are, one by one: their order in the parameter "topology.coefficient" and their
/// places in recorded matrices. Private to the engine.
namespace residua::engine {

/// Who reads mixes of the stack: layer `target`, or the final output as target L + 1.
struct DepthReader {
    std::int64_t target = 1;
    /// The entries that it weighs, ascending. A summed middle stands under its first entry.
    std::vector<std::int64_t> sources;
    std::optional<projects::EntryRange> middle;
    int outputs = 1; ///< mixes of its own: 1, or one per port

    [[nodiscard]] std::int64_t terms() const { return static_cast<std::int64_t>(sources.size()) * outputs; }
};

/// Every reader of a topology, layers 1..depth first, then the final output where it has a mix. Readers of nothing are
/// kept: what they mean is for the trunk to say.
[[nodiscard]] std::vector<DepthReader> readersOf(const projects::DepthMix& mix, std::int64_t depth);

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
