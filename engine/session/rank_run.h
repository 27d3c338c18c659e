// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/session.h"
#include "engine/ranks/ranks.h"
#include "engine/runs/checkpoint.h"
#include "engine/train/trainer.h"
#include "projects/base/result.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace residua::engine {

/// A run to be trained: fresh, or from a checkpoint.
struct PreparedRun {
    const projects::Project& project;
    std::filesystem::path projectDirectory;
    std::string device;
    std::optional<CheckpointFiles> checkpoint = {};
    std::filesystem::path runDirectory = {}; ///< of the checkpoint
    Reading reading = {};
};

/// Opens the run's data, device and network, with the checkpoint's state, as one of the ranks if there are several.
/// Errors name the place.
[[nodiscard]] Result<std::unique_ptr<Trainer>> makeTrainer(const PreparedRun& run, const PreparationWatches& watches);

/// On rank 0: calls the other ranks, if there are any, to train this run with it, and returns this rank's device.
/// Errors: a batch that they cannot share, or ranks that are not reached.
[[nodiscard]] Result<std::string> callRanks(const PreparedRun& run);

/// On another rank: waits for rank 0's call and trains with it, without records, until its run ends. Sends RunStarted
/// without a directory, and RunEnded.
void followRanks(const FollowRun& command, const EventSink& sink);

} // namespace residua::engine
