// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/worlds/environments.h"

#include "projects/base/random.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>

namespace residua::engine {
namespace {

constexpr std::size_t kLeastPerThread = 1024; ///< built-in worlds; fewer take less time than the start of a thread

/// Calls `work` with each index below `count`, in parallel threads with at least `least` each.
template <class Work>
void forEachWorld(std::size_t count, std::size_t least, const Work& work)
{
    const std::size_t threads =
        std::clamp<std::size_t>(count / least, 1, std::max(1U, std::thread::hardware_concurrency()));
    const auto part = [&](std::size_t thread) {
        for (std::size_t i = count * thread / threads; i < count * (thread + 1) / threads; ++i) {
            work(i);
        }
    };
    std::vector<std::jthread> others;
    for (std::size_t thread = 1; thread < threads; ++thread) {
        others.emplace_back(part, thread);
    }
    part(0);
}

std::span<float> rowOf(std::vector<float>& values, std::size_t row, std::int64_t width)
{
    const auto columns = static_cast<std::size_t>(width);
    return std::span(values).subspan(row * columns, columns);
}

} // namespace

Result<Environments> Environments::make(const projects::WorldData& data, const std::filesystem::path& directory,
                                        std::int64_t count, std::uint64_t seed)
{
    Environments made;
    made.m_sizes = projects::sizesOf(data);
    made.m_length = data.episode;
    made.m_seed = seed;
    const auto worlds = static_cast<std::size_t>(count);
    made.m_worlds = RESIDUA_TRY(makeWorlds(data, directory, count));
    made.m_perThread = data.kind == projects::WorldKind::Mujoco ? 1 : kLeastPerThread;
    made.m_states.resize(worlds * static_cast<std::size_t>(made.m_sizes.states));
    made.m_goals.resize(worlds * static_cast<std::size_t>(made.m_sizes.goals));
    made.m_episodes.resize(worlds);
    made.m_steps.resize(worlds);
    made.m_atGoal.resize(worlds);
    made.m_isFinite.resize(worlds, 1);
    made.begin();
    return made;
}

void Environments::begin()
{
    forEachWorld(m_worlds.size(), m_perThread, [this](std::size_t world) { beginEpisode(world); });
}

void Environments::beginEpisode(std::size_t world)
{
    const auto episode = static_cast<std::uint64_t>(++m_episodes[world]);
    m_worlds[world]->begin(drawBits(m_seed, world, episode));
    m_steps[world] = 0;
    observe(world);
}

void Environments::observe(std::size_t world)
{
    const std::span<float> state = rowOf(m_states, world, m_sizes.states);
    m_worlds[world]->observe(state);
    m_worlds[world]->goal(rowOf(m_goals, world, m_sizes.goals));
    m_isFinite[world] = std::ranges::all_of(state, [](float value) { return std::isfinite(value); }) ? 1 : 0;
}

void Environments::stepOne(std::size_t world, std::span<const float> action)
{
    World& body = *m_worlds[world];
    body.step(action);
    m_atGoal[world] = body.isAtGoal() ? 1 : 0;
    ++m_steps[world];
    observe(world);
    if (m_isFinite[world] != 0 && (m_steps[world] >= m_length || body.hasFailed())) {
        beginEpisode(world);
    }
}

Status Environments::step(std::span<const float> actions)
{
    const auto width = static_cast<std::size_t>(m_sizes.actions);
    forEachWorld(m_worlds.size(), m_perThread,
                 [&](std::size_t world) { stepOne(world, actions.subspan(world * width, width)); });
    const auto bad = std::ranges::find(m_isFinite, 0);
    if (bad != m_isFinite.end()) {
        const auto world = static_cast<std::size_t>(bad - m_isFinite.begin());
        return Error{"data · world",
                     "environment " + std::to_string(world + 1) +
                         " has a state that is not finite at "
                         "step " +
                         std::to_string(m_steps[world]) + " of episode " + std::to_string(m_episodes[world]) +
                         "; expected finite numbers: check the actions, or the model and its time step"};
    }
    return Done{};
}

std::vector<double> Environments::values() const
{
    std::vector<double> values;
    for (std::size_t world = 0; world < m_worlds.size(); ++world) {
        values.push_back(static_cast<double>(m_episodes[world]));
        values.push_back(static_cast<double>(m_steps[world]));
        std::ranges::copy(m_worlds[world]->values(), std::back_inserter(values));
    }
    return values;
}

Status Environments::setValues(std::span<const double> values)
{
    const std::size_t each = 2 + (m_worlds.empty() ? 0 : m_worlds.front()->values().size());
    if (values.size() != each * m_worlds.size() ||
        !std::ranges::all_of(values, [](double value) { return std::isfinite(value); })) {
        return Error{"checkpoint · worlds", "holds " + std::to_string(values.size()) + " numbers, expected " +
                                                std::to_string(each * m_worlds.size()) +
                                                " finite ones: go on from an earlier checkpoint"};
    }
    for (std::size_t world = 0; world < m_worlds.size(); ++world) {
        const std::span<const double> own = values.subspan(world * each, each);
        if (own[0] < 1 || own[0] > std::numeric_limits<std::int32_t>::max() || own[1] < 0 ||
            own[1] >= static_cast<double>(m_length)) {
            return Error{"checkpoint · worlds", "has an environment in an episode or a step that no run reaches: go on "
                                                "from an earlier checkpoint"};
        }
        m_episodes[world] = static_cast<std::int64_t>(own[0]);
        m_steps[world] = static_cast<std::int64_t>(own[1]);
        m_worlds[world]->setValues(own.subspan(2));
        observe(world);
    }
    return Done{};
}

} // namespace residua::engine
