// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/random.h"
#include "projects/base/result.h"
#include "projects/model/data_source.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace residua::engine {

/// The newest steps of several environments that step together: states, actions and the number of the episode.
class ReplayBuffer {
public:
    explicit ReplayBuffer(const projects::WorldData& data);

    /// Adds a step of every environment: the states before it, the actions, and the episodes that they belong to.
    void add(std::span<const float> states, std::span<const float> actions, std::span<const std::int64_t> episodes);

    /// A step, and one of the same episode whose place becomes its goal.
    struct Drawn {
        std::span<const float> state;
        std::span<const float> action;
        std::span<const float> goal; ///< the first features of the later state
    };
    /// Returns a step drawn among all that have a later one in their episode. The later one is Δ steps after it, with a
    /// probability ∝ γ^Δ over Δ from 1 to the last step of the episode in the buffer. A step that has no later one
    /// after many draws gets itself as its goal.
    [[nodiscard]] Drawn draw(RandomStream& random) const;

    /// Returns the number of steps of each environment in the buffer.
    [[nodiscard]] std::int64_t size() const { return m_added < m_capacity ? m_added : m_capacity; }
    /// Returns the number of steps of each environment that were ever added.
    [[nodiscard]] std::int64_t added() const { return m_added; }

    /// The contents for a checkpoint. `states` is [environments, capacity, states].
    struct Contents {
        std::vector<float>& states;
        std::vector<float>& actions;
        std::vector<std::int32_t>& episodes;
    };
    [[nodiscard]] Contents contents() { return {m_states, m_actions, m_episodes}; }
    /// Sets the number of steps that were ever added, after contents() were read from a checkpoint.
    void setAdded(std::int64_t added) { m_added = added; }

private:
    /// Returns the place in the arrays of the step that is `age`-th from the oldest.
    [[nodiscard]] std::size_t slot(std::int64_t environment, std::int64_t age) const;
    /// Returns the number of steps after `age` in the same episode.
    [[nodiscard]] std::int64_t stepsAfter(std::int64_t environment, std::int64_t age) const;

    projects::WorldSizes m_sizes;
    std::int64_t m_environments;
    std::int64_t m_capacity;
    double m_discount;
    std::int64_t m_added = 0;
    std::vector<float> m_states;
    std::vector<float> m_actions;
    std::vector<std::int32_t> m_episodes;
};

/// Returns Δ from 1 to `most` with a probability ∝ discount^Δ, for a uniform number in (0, 1).
[[nodiscard]] std::int64_t geometricSteps(double discount, std::int64_t most, double uniform);

} // namespace residua::engine
