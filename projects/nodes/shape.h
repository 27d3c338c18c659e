// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/element.h"
#include "projects/model/graph.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace residua::projects {

struct Project;

/// Sizes known only when training runs, kept symbolic.
inline constexpr std::int64_t kBatch = -1;
inline constexpr std::int64_t kTime = -2;

/// [batch, time, 256] and the like; a dimension is a size or one of the symbols above.
struct Shape {
    std::vector<std::int64_t> dims;
    Element element = Element::Real;

    /// "[batch, time, 256]"; tokens read "tokens [batch, time]".
    [[nodiscard]] std::string text() const;
    /// The last dimension; 0 for a shape of none.
    [[nodiscard]] std::int64_t features() const { return dims.empty() ? 0 : dims.back(); }
    bool operator==(const Shape&) const = default;
};

/// Named sizes that a formula may use: d (network.width), vocab, seq (training.sequenceLength),
/// in and out (the data's vector widths).
struct Sizes {
    std::map<std::string, std::int64_t> named;
    WeightRank rank = {}; ///< of the weights whose nodes leave it to the network
};
[[nodiscard]] Result<Sizes> sizesOf(const Project& project);

} // namespace residua::projects
