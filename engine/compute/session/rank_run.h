// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/session.h"
#include "engine/compute/ranks/ranks.h"
#include "engine/compute/train/trainer.h"
#include "engine/runs/store/checkpoint.h"
#include "engine/runs/store/run_files.h"
#include "projects/base/result.h"

#include <filesystem>
#include <functional>
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
    std::filesystem::path runDirectory = {}; ///< empty if it is chosen later
    Reading reading = {};
};

/// Opens the run's data, device and network, with the checkpoint's state, as one of the ranks if there are several.
/// Errors name the place.
[[nodiscard]] Result<std::unique_ptr<Trainer>> makeTrainer(const PreparedRun& run, const PreparationWatches& watches);

/// On rank 0: calls the other ranks, if there are any, to train this run with it, and returns this rank's device.
/// Errors: a project that is invalid or that they cannot share, which is found before they are waited for; ranks that
/// are not reached, or are of another build.
[[nodiscard]] Result<std::string> callRanks(const PreparedRun& run, const PreparationWatch& watch);
/// Checks that all ranks have the same data, as far as their fingerprints tell; they call it together. Does nothing if
/// `ranks` is null. The error, which is the same on all ranks, names the part that differs and both its values.
[[nodiscard]] Status checkData(const DataFingerprint& data, Ranks* ranks);
/// Returns watches that also cancel if another rank wants the run to stop, or does not train.
[[nodiscard]] PreparationWatches heedingRanks(const PreparationWatches& watches);
/// On rank 0: ends the other ranks, because the run does not begin. Returns the error of this rank, or why another one
/// does not train. Does nothing else if this process trains alone.
[[nodiscard]] Error refusedToRanks(const Error& error);
/// Returns what the other ranks report if this one does not train.
[[nodiscard]] std::string ownRankRefused(const Error& error);

/// On another rank: waits for rank 0's call and trains with it, without records, until its run ends. Sends RunStarted
/// without a directory, a Notice if it was given other values than rank 0, and RunEnded. Once `wanted`, which is called
/// on several threads, returns false, asks rank 0 to stop; before the first step, all ranks end. `watch` is called
/// while the other ranks are waited for.
void followRanks(const FollowRun& command, const EventSink& sink, const std::function<bool()>& wanted,
                 const PreparationWatch& watch);

} // namespace residua::engine
