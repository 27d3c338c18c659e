// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/files/tensor_files.h"
#include "engine/compute/network/network.h"
#include "engine/compute/train/tensor_io.h"
#include "engine/data/sets/world_dataset.h"
#include "engine/data/worlds/environments.h"
#include "engine/data/worlds/replay_buffer.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace residua::engine {

/// Acts in a world with the first tower of a project, and draws the examples of training steps from the replay buffer.
/// What is acted and drawn is a function of the seeds, the weights and the contents. Engine thread.
class Acting {
public:
    /// `network` must outlive this.
    [[nodiscard]] static Result<std::unique_ptr<Acting>>
    make(const projects::Project& project, const WorldDataset& dataset, CompiledNetwork& network, c10::Device device);

    /// Acts as many steps as are due before training step `step`, with random actions of the network's distribution.
    [[nodiscard]] Status actBefore(std::int64_t step);
    /// Fills `batch` with draw `number` of `count` examples. Equal numbers give equal batches while the buffer stays.
    void fill(Batch& batch, std::int64_t number, std::int64_t count) const;

    /// The beginning of the names of the tensors that addTo() adds.
    static constexpr const char* kPrefix = "worlds/";
    /// Adds worlds and buffer to the tensors of a checkpoint, if they are kept there.
    void addTo(HostTensors& tensors) const;
    /// Restores them before training step `step`. If the checkpoint has none, the buffer is filled anew before that
    /// step, as far as before the first step.
    [[nodiscard]] Status load(const TensorFiles& stored, std::int64_t step);
    /// Returns why load() fills the buffer anew, and the way on; empty if it does not.
    [[nodiscard]] const std::string& whyAnew() const { return m_whyAnew; }

private:
    Acting(const projects::Project& project, const projects::WorldData& world, CompiledNetwork& network,
           c10::Device device, Environments worlds);
    [[nodiscard]] Status actOnce(std::int64_t step);

    projects::WorldData m_world;
    projects::ExampleSchema m_schema;
    projects::Seeds m_seeds;
    std::int64_t m_depth; ///< executed layers of the first tower
    at::ScalarType m_type;
    CompiledNetwork& m_network;
    c10::Device m_device;
    Environments m_environments;
    mutable ReplayBuffer m_buffer; ///< HostTensors takes memory that may be written to
    std::int64_t m_skipped = 0;    ///< steps of each environment that a resumed run does not act again
    std::string m_whyAnew;
};

/// Acts for an episode with the actions of an evaluation in several environments, whose starts and goals depend on the
/// document alone.
struct ActedEpisodes {
    double timeAtGoal = 0; ///< mean number of steps at the goal
    double reached = 0;    ///< share of the episodes that reach their goal
    Matrix shown;          ///< matrix::kRollout
};
[[nodiscard]] Result<ActedEpisodes> actEpisodes(const projects::Project& project, const WorldDataset& dataset,
                                                CompiledNetwork& network, c10::Device device, std::int64_t step);

} // namespace residua::engine
