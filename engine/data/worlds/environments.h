// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/worlds/world.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

namespace residua::engine {

/// Several worlds that step together, in parallel threads if there are many. Episodes are numbered; the start and the
/// goal of each are a function of the seed, the environment and its number.
class Environments {
public:
    [[nodiscard]] static Result<Environments> make(const projects::WorldData& data,
                                                   const std::filesystem::path& directory, std::int64_t count,
                                                   std::uint64_t seed);

    /// Begins the next episode in every world.
    void begin();
    /// Steps every world by its row of `actions` [count, actions]. If an episode ends by its length or by a failure,
    /// the next one begins, which states() then has. The error names the world whose state is not finite.
    [[nodiscard]] Status step(std::span<const float> actions);

    [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(m_worlds.size()); }
    [[nodiscard]] std::span<const float> states() const { return m_states; } ///< [count, states]
    [[nodiscard]] std::span<const float> goals() const { return m_goals; }   ///< [count, goals]
    /// The number of each world's episode, from 1 [count].
    [[nodiscard]] std::span<const std::int64_t> episodes() const { return m_episodes; }
    /// True for each world that the last step brought to its goal, or left there [count].
    [[nodiscard]] std::span<const std::uint8_t> atGoal() const { return m_atGoal; }

    /// The numbers that a checkpoint keeps: for each world its own, its episode and the steps in it.
    [[nodiscard]] std::vector<double> values() const;
    [[nodiscard]] Status setValues(std::span<const double> values);

private:
    Environments() = default;
    void beginEpisode(std::size_t world);
    void observe(std::size_t world);
    void stepOne(std::size_t world, std::span<const float> action);

    projects::WorldSizes m_sizes;
    std::int64_t m_length = 0; ///< steps of an episode
    std::uint64_t m_seed = 0;
    std::size_t m_perThread = 1; ///< the least number of worlds
    std::vector<std::unique_ptr<World>> m_worlds;
    std::vector<float> m_states;
    std::vector<float> m_goals;
    std::vector<std::int64_t> m_episodes;
    std::vector<std::int64_t> m_steps; ///< in the episode
    std::vector<std::uint8_t> m_atGoal;
    std::vector<std::uint8_t> m_isFinite;
};

} // namespace residua::engine
