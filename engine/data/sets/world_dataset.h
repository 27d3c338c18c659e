// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/sets/dataset.h"
#include "engine/data/worlds/replay_buffer.h"

#include <filesystem>

namespace residua::engine {

/// A data set of steps in a world. fill() takes random actions, so its examples only show the form of the data. In
/// training, examples come from the replay buffer instead (engine/compute/train/acting.h).
class WorldDataset final : public Dataset {
public:
    /// Makes one world to check the source, whose errors it returns.
    [[nodiscard]] static Result<std::unique_ptr<Dataset>> open(const projects::WorldData& source,
                                                               const std::filesystem::path& directory);

    [[nodiscard]] projects::ExampleSchema schema() const override;
    [[nodiscard]] std::int64_t size(Split split) const override { return split == Split::Train ? kEndless : 0; }
    [[nodiscard]] bool repeats() const override { return false; }
    [[nodiscard]] std::vector<std::string> notes() const override;
    [[nodiscard]] Status fill(Batch& batch, Split split, std::int64_t seed, std::int64_t index,
                              std::int64_t count) const override;
    [[nodiscard]] Status fillSequential(Batch& batch, Split split, std::int64_t index,
                                        std::int64_t count) const override;

    [[nodiscard]] const projects::WorldData& source() const { return m_source; }
    [[nodiscard]] const std::filesystem::path& directory() const { return m_directory; }

private:
    WorldDataset(projects::WorldData source, std::filesystem::path directory)
        : m_source(std::move(source)), m_directory(std::move(directory))
    {
    }

    projects::WorldData m_source;
    std::filesystem::path m_directory;
};

/// Fills a batch with `count` steps drawn from the buffer, single precision, in the order of ExampleSchema::world().
void fillFrom(const ReplayBuffer& buffer, RandomStream& random, std::int64_t count, Batch& batch);

} // namespace residua::engine
