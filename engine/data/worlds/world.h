// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/data_source.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

namespace residua::engine {

/// One environment: a body that actions move, and a goal. Steps are functions of the values and the action alone.
class World {
public:
    virtual ~World() = default;
    /// Begins an episode whose start and goal are a function of `draw`.
    virtual void begin(std::uint64_t draw) = 0;
    /// Advances by one step. Each number of the action is limited to -1..1.
    virtual void step(std::span<const float> action) = 0;
    /// Writes the state, which begins with the place that goals are about.
    virtual void observe(std::span<float> state) const = 0;
    /// Writes the goal.
    virtual void goal(std::span<float> place) const = 0;
    [[nodiscard]] virtual bool isAtGoal() const = 0;
    /// True if the episode ends before its length, such as after a fall.
    [[nodiscard]] virtual bool hasFailed() const { return false; }
    /// The numbers that a checkpoint keeps. Their count is fixed.
    [[nodiscard]] virtual std::vector<double> values() const = 0;
    virtual void setValues(std::span<const double> values) = 0;
};

/// Returns `count` worlds of the kind. `directory` is the project's.
[[nodiscard]] Result<std::vector<std::unique_ptr<World>>>
makeWorlds(const projects::WorldData& data, const std::filesystem::path& directory, std::int64_t count);

} // namespace residua::engine
