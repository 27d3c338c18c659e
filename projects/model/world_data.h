// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace residua::projects {

/// A world to act in. The first features of a state are the place that goals are about.
enum class WorldKind {
    PointMaze, ///< a point mass in kLargeMaze: its place (2) and its speed (2); the action is a force
    Arm,       ///< an arm of two links: its tip (2), cosines and sines of both angles (4), their speeds (2)
    Mujoco,    ///< a model of MuJoCo in a folder that the user has
};
/// The replay buffer of a resumed run.
enum class ReplayOnResume {
    Kept,      ///< the newest checkpoint has it: a run resumed there equals one that was not interrupted
    Collected, ///< no checkpoint has it: the resumed run acts anew before its next step
};

/// Environments that the first tower acts in, and the replay buffer that examples are drawn from.
struct WorldData {
    WorldKind kind = WorldKind::PointMaze;
    std::string path;          ///< Mujoco: a folder with world.json and the model
    std::int64_t states = 268; ///< Mujoco: the features of a state, of an action and of a goal
    std::int64_t actions = 17;
    std::int64_t goals = 3;
    std::int64_t environments = 16; ///< that act at the same time
    std::int64_t episode = 1000;    ///< steps until a world begins again
    std::int64_t unroll = 62;       ///< steps of each environment before every `updates` steps of training
    std::int64_t updates = 800;
    std::int64_t prefill = 1000;  ///< steps of each environment before the first step of training
    std::int64_t replay = 10'000; ///< newest steps of each environment that the buffer keeps
    std::int64_t memory = 512;    ///< most MiB of the buffer
    double discount = 0.99;       ///< γ: a goal is the state Δ steps later with probability ∝ γ^Δ
    std::int64_t judged = 16;     ///< episodes that a validation acts
    ReplayOnResume onResume = ReplayOnResume::Kept;
    bool operator==(const WorldData&) const = default;
};

/// The features of a world's states, actions and goals.
struct WorldSizes {
    std::int64_t states = 0;
    std::int64_t actions = 0;
    std::int64_t goals = 0;
};
[[nodiscard]] constexpr WorldSizes sizesOf(const WorldData& world)
{
    switch (world.kind) {
    case WorldKind::PointMaze:
        return {4, 2, 2};
    case WorldKind::Arm:
        return {8, 2, 2};
    case WorldKind::Mujoco:
        break;
    }
    return {world.states, world.actions, world.goals};
}
/// Returns the bytes of the replay buffer: single precision, and a mark for each step. A double, so that large sizes do
/// not overflow.
[[nodiscard]] constexpr double replayBytes(const WorldData& world)
{
    const WorldSizes sizes = sizesOf(world);
    return 4.0 * static_cast<double>(world.environments) * static_cast<double>(world.replay) *
           (static_cast<double>(sizes.states) + static_cast<double>(sizes.actions) + 1);
}

/// Returns the steps of each environment before training step `step`, from 1.
[[nodiscard]] constexpr std::int64_t stepsActedBefore(const WorldData& world, std::int64_t step)
{
    return world.prefill + world.unroll * (1 + (step - 1) / world.updates);
}
/// Returns the steps of all environments that `step` steps of training have used.
[[nodiscard]] constexpr std::int64_t environmentStepsAt(const WorldData& world, std::int64_t step)
{
    return world.environments * stepsActedBefore(world, std::max<std::int64_t>(step, 1));
}

/// The large maze by its rows: '1' a wall, 'r' the start, 'g' a goal. A cell is kMazeCell wide, and the centre of the
/// cell in row 0 and column 0 is the place (0, 0); x grows by column and y by row.
inline constexpr std::array<std::string_view, 8> kLargeMaze{"11111111", "1rg11gg1", "1gg1ggg1", "11ggg111",
                                                            "1gg1ggg1", "1g1gg1g1", "1ggg1gg1", "11111111"};
inline constexpr double kMazeCell = 4;
/// The lengths of the arm's links.
inline constexpr std::array<double, 2> kArmLinks{1.0, 0.8};

} // namespace residua::projects
