// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/topology.h"
#include "projects/model/training_plan.h"

#include <cstdint>
#include <string>
#include <vector>

namespace residua::projects {

/// `repeat` consecutive layers that share a block but no weights.
struct StackSegment {
    std::string block;
    std::int64_t repeat = 1;

    bool operator==(const StackSegment&) const = default;
};

/// The largest number of layers of a document. Files and edits with more are rejected.
inline constexpr std::int64_t kMaxLayers = 4096;
/// Returns the number of layers of `stack`. A negative repeat counts as 0, and a very large sum saturates.
[[nodiscard]] std::int64_t layersOf(const std::vector<StackSegment>& stack);
/// True if a layer uses the block with this name.
[[nodiscard]] bool isUsed(const std::vector<StackSegment>& stack, const std::string& block);

/// Layers of one width whose entries a topology mixes, and the schedule that leaves them out of steps. A network has
/// one.
struct Stack {
    std::int64_t width = 256; ///< d: features of every stack entry
    std::vector<StackSegment> segments;
    Topology topology;
    StageSchedule schedule;

    [[nodiscard]] std::int64_t depth() const { return layersOf(segments); } ///< L, the number of layers
    bool operator==(const Stack&) const = default;
};

} // namespace residua::projects
