// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Apart from world.h, which users of worlds include: how each kind of world is made.

#include "engine/data/worlds/world.h"

namespace residua::engine {

/// A point of mass 1 in projects::kLargeMaze. An action is a force in two directions. Walls stop it. It starts near the
/// cell 'r', and goals are the centres of cells 'g'. It is at its goal within kMazeRadius.
[[nodiscard]] std::unique_ptr<World> makePointMaze();
inline constexpr double kMazeRadius = 0.5;
/// True if the place is in a wall of the maze or outside it. False for places that are not finite, which Environments
/// reports.
[[nodiscard]] bool isMazeWall(double x, double y);

/// Two links in a plane without gravity, with a mass of 1 at the end of each (projects::kArmLinks). An action is the
/// torque at both joints. Start and goal are drawn over all angles. It is at its goal if its tip is within kArmRadius.
[[nodiscard]] std::unique_ptr<World> makeArm();
inline constexpr double kArmRadius = 0.1;

/// Returns `count` environments of the model of MuJoCo in data.path, below `directory` if it is relative. Reads only
/// the two files there. The error names the file and the place in it, or tells how to get MuJoCo.
[[nodiscard]] Result<std::vector<std::unique_ptr<World>>>
makeMujocoWorlds(const projects::WorldData& data, const std::filesystem::path& directory, std::int64_t count);

} // namespace residua::engine
