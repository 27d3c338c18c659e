// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/sets/world_dataset.h"

#include "engine/base/machine/machine.h"
#include "engine/data/worlds/environments.h"
#include "projects/base/text.h"

#include <algorithm>
#include <iterator>

namespace residua::engine {
namespace {

/// Environments and steps of the random actions that show examples.
constexpr std::int64_t kShownEnvironments = 4;
constexpr std::int64_t kShownSteps = 200;
constexpr std::int64_t kMostSequential = 4096;

} // namespace

void fillFrom(const ReplayBuffer& buffer, RandomStream& random, std::int64_t count, Batch& batch)
{
    constexpr std::size_t kFields = 4;
    for (std::size_t field = 0; field < kFields; ++field) {
        batch.values<float>(field).clear();
    }
    for (std::int64_t i = 0; i < count; ++i) {
        const ReplayBuffer::Drawn drawn = buffer.draw(random);
        std::size_t field = 0;
        for (const std::span<const float> values : {drawn.state, drawn.action, drawn.goal, drawn.action}) {
            std::ranges::copy(values, std::back_inserter(batch.values<float>(field++)));
        }
    }
    batch.batch = count;
    batch.time = 0;
}

Result<std::unique_ptr<Dataset>> WorldDataset::open(const projects::WorldData& source,
                                                    const std::filesystem::path& directory)
{
    const double needed = projects::replayBytes(source);
    const MachineMemory memory = machineMemory();
    if (memory.totalBytes > 0 && needed > static_cast<double>(memory.freeBytes)) {
        return Error{"data · replay", "the replay buffer takes " + bytesText(needed) + ", and " +
                                          bytesText(static_cast<double>(memory.freeBytes)) +
                                          " of memory are free; expected fewer steps or environments"};
    }
    RESIDUA_TRY(Environments::make(source, directory, 1, 0));
    return std::unique_ptr<Dataset>(new WorldDataset(source, directory));
}

projects::ExampleSchema WorldDataset::schema() const
{
    const projects::WorldSizes sizes = projects::sizesOf(m_source);
    return projects::ExampleSchema::world(sizes.states, sizes.actions, sizes.goals);
}

std::vector<std::string> WorldDataset::notes() const
{
    return {"examples come from acting: " + std::to_string(m_source.environments) +
            " environments, a replay buffer of " + bytesText(projects::replayBytes(m_source)) + ", " +
            std::to_string(m_source.unroll) + " steps of each before every " + std::to_string(m_source.updates) +
            " steps of training"};
}

Status WorldDataset::fill(Batch& batch, Split /*split*/, std::int64_t seed, std::int64_t index,
                          std::int64_t count) const
{
    projects::WorldData shown = m_source;
    shown.environments = kShownEnvironments;
    shown.replay = kShownSteps;
    Environments worlds =
        RESIDUA_TRY(Environments::make(shown, m_directory, kShownEnvironments, static_cast<std::uint64_t>(seed)));
    ReplayBuffer buffer(shown);
    RandomStream random(static_cast<std::uint64_t>(seed), streamOf(Stream::Acting));
    std::vector<float> actions(static_cast<std::size_t>(kShownEnvironments * projects::sizesOf(m_source).actions));
    for (std::int64_t step = 0; step < kShownSteps; ++step) {
        std::ranges::generate(actions, [&] { return static_cast<float>(2 * random.uniform() - 1); });
        const std::vector<float> before(worlds.states().begin(), worlds.states().end());
        const std::vector<std::int64_t> episodes(worlds.episodes().begin(), worlds.episodes().end());
        RESIDUA_TRY(worlds.step(actions));
        buffer.add(before, actions, episodes);
    }
    RandomStream draws(
        drawBits(static_cast<std::uint64_t>(seed), streamOf(Stream::Order), static_cast<std::uint64_t>(index)),
        streamOf(Stream::Acting));
    fillFrom(buffer, draws, count, batch);
    return Done{};
}

Status WorldDataset::fillSequential(Batch& batch, Split split, std::int64_t index, std::int64_t count) const
{
    const std::int64_t left = split == Split::Train ? std::max<std::int64_t>(kMostSequential - index * count, 0) : 0;
    return fill(batch, split, 0, index, std::min(count, left));
}

} // namespace residua::engine
