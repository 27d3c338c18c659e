// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/data_source.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// The goals of episodes.
struct WorldGoal {
    std::vector<std::vector<double>> places; ///< one is drawn for each episode; each has the features of a goal
    double spread = 0;                       ///< each coordinate is moved by at most so much
    /// Least and most distance by which the first two coordinates are moved, in any direction; empty: they are not.
    std::vector<double> radius;
    bool operator==(const WorldGoal&) const = default;
};

/// Bounds of a feature of the state. An episode ends outside of them.
struct WorldBounds {
    std::int64_t feature = -1; ///< from 0; -1: none is bounded
    double low = 0;
    double high = 0;
    bool operator==(const WorldBounds&) const = default;
};

/// A model of MuJoCo as a world: world.json in the folder of WorldData::path.
struct WorldModel {
    std::string model;                    ///< the MJCF file in the same folder
    std::vector<std::string> observation; ///< the parts of a state: "qpos", or the place of a body, "body:torso"
    std::vector<double> control;          ///< the actuators' numbers at actions of -1 and 1; empty: the bounds of each
    std::int64_t frames = 5;              ///< steps of the simulation in one of the world
    double noise = 0.1;                   ///< the most by which a start moves positions and velocities
    WorldGoal goal;
    double success = 0.5; ///< the most distance from the goal that counts as being there
    WorldBounds alive;
    bool operator==(const WorldModel&) const = default;
};

inline constexpr const char* kWorldFile = "world.json";

/// Parses and checks world.json for a world of these sizes. The place of an error is a JSON pointer, or line and
/// column.
[[nodiscard]] Result<WorldModel> worldModelFromJson(std::string_view text, const WorldSizes& sizes);

} // namespace residua::projects
