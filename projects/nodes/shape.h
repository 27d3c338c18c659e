// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/graph.h"
#include "projects/model/objective.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace residua::projects {

struct Network;
struct Project;

/// Sizes that are known only in training, as symbols.
inline constexpr std::int64_t kBatch = -1;
inline constexpr std::int64_t kTime = -2;

/// A shape such as [batch, time, 256]. Each dimension is a size or a symbol.
struct Shape {
    std::vector<std::int64_t> dims;
    Element element = Element::Real;

    /// "[batch, time, 256]"; tokens give "tokens [batch, time]".
    [[nodiscard]] std::string text() const;
    /// False for a tensor that all examples share, such as a learned parameter.
    [[nodiscard]] bool hasBatch() const { return !dims.empty() && dims.front() == kBatch; }
    /// The last dimension, or 0 for a shape without dimensions.
    [[nodiscard]] std::int64_t features() const { return dims.empty() ? 0 : dims.back(); }
    bool operator==(const Shape&) const = default;
};

/// Named sizes for formulas: d (network.width), vocab and seq (training.sequenceLength) if the examples are tokens, in
/// (the features that enter the stem) unless these are tokens, out (the features or classes of the head's output)
/// unless every token has a target, and classes (with the null class) if the examples are noised images.
struct Sizes {
    std::map<std::string, std::int64_t> named;
    WeightRank rank = {}; ///< rank of the weights whose nodes set none
};
[[nodiscard]] Result<Sizes> sizesOf(const Project& project);
/// Returns the sizes for a tower whose stem reads `entering`.
[[nodiscard]] Result<Sizes> sizesOf(const Project& project, const Network& network, const Shape& entering);

} // namespace residua::projects
