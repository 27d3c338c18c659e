// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/worlds/replay_buffer.h"

#include <algorithm>
#include <cmath>

namespace residua::engine {
namespace {

constexpr int kMostDraws = 64;

} // namespace

std::int64_t geometricSteps(double discount, std::int64_t most, double uniform)
{
    if (discount <= 0 || most <= 1) {
        return 1;
    }
    const double whole = 1 - std::pow(discount, static_cast<double>(most)); // of the first `most` steps
    const auto steps = static_cast<std::int64_t>(std::log1p(-uniform * whole) / std::log(discount));
    return std::clamp<std::int64_t>(1 + steps, 1, most);
}

ReplayBuffer::ReplayBuffer(const projects::WorldData& data)
    : m_sizes(projects::sizesOf(data)),
      m_environments(data.environments),
      m_capacity(data.replay),
      m_discount(data.discount)
{
    const auto steps = static_cast<std::size_t>(m_environments * m_capacity);
    m_states.resize(steps * static_cast<std::size_t>(m_sizes.states));
    m_actions.resize(steps * static_cast<std::size_t>(m_sizes.actions));
    m_episodes.resize(steps);
}

void ReplayBuffer::add(std::span<const float> states, std::span<const float> actions,
                       std::span<const std::int64_t> episodes)
{
    const auto stateWidth = static_cast<std::size_t>(m_sizes.states);
    const auto actionWidth = static_cast<std::size_t>(m_sizes.actions);
    for (std::int64_t environment = 0; environment < m_environments; ++environment) {
        const auto from = static_cast<std::size_t>(environment);
        const auto to = static_cast<std::size_t>(environment * m_capacity + m_added % m_capacity);
        std::ranges::copy(states.subspan(from * stateWidth, stateWidth),
                          m_states.begin() + static_cast<std::ptrdiff_t>(to * stateWidth));
        std::ranges::copy(actions.subspan(from * actionWidth, actionWidth),
                          m_actions.begin() + static_cast<std::ptrdiff_t>(to * actionWidth));
        m_episodes[to] = static_cast<std::int32_t>(episodes[from]);
    }
    ++m_added;
}

std::size_t ReplayBuffer::slot(std::int64_t environment, std::int64_t age) const
{
    const std::int64_t oldest = m_added - size();
    return static_cast<std::size_t>(environment * m_capacity + (oldest + age) % m_capacity);
}

std::int64_t ReplayBuffer::stepsAfter(std::int64_t environment, std::int64_t age) const
{
    const std::int32_t episode = m_episodes[slot(environment, age)];
    std::int64_t inside = age; // the last step that is known to be of the episode
    std::int64_t outside = size();
    while (outside - inside > 1) {
        const std::int64_t middle = inside + (outside - inside) / 2;
        (m_episodes[slot(environment, middle)] == episode ? inside : outside) = middle;
    }
    return inside - age;
}

ReplayBuffer::Drawn ReplayBuffer::draw(RandomStream& random) const
{
    std::int64_t environment = 0;
    std::int64_t age = 0;
    std::int64_t after = 0;
    for (int tried = 0; tried < kMostDraws && after == 0; ++tried) {
        environment = random.below(m_environments);
        age = random.below(size());
        after = stepsAfter(environment, age);
    }
    const std::int64_t later = after == 0 ? 0 : geometricSteps(m_discount, after, random.uniform());
    const auto partOf = [](const std::vector<float>& all, std::size_t row, std::int64_t width, std::int64_t shown) {
        return std::span(all).subspan(row * static_cast<std::size_t>(width), static_cast<std::size_t>(shown));
    };
    const std::size_t now = slot(environment, age);
    return {partOf(m_states, now, m_sizes.states, m_sizes.states),
            partOf(m_actions, now, m_sizes.actions, m_sizes.actions),
            partOf(m_states, slot(environment, age + later), m_sizes.states, m_sizes.goals)};
}

} // namespace residua::engine
