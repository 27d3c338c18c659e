// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/files/safetensors.h"
#include "projects/base/result.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// What a checkpoint holds beside tensors; state.json, with a checksum of each tensor file, so that
/// a flipped bit is found before it trains.
struct CheckpointState {
    std::int64_t step = 0;
    std::int64_t units = 0; ///< tokens or samples seen
    double seconds = 0;
    std::int64_t stage = 0;
    std::map<std::string, std::string> cursors; ///< data cursors and random states, each in its owner's text
    std::optional<double> validationLoss;       ///< the last before this state; finite

    bool operator==(const CheckpointState&) const = default;
};

/// Which checkpoints of a run stay when one is written: all that one of the three names.
struct CheckpointRule {
    std::int64_t newest = 0; ///< the newest so many; 0: every checkpoint stays
    std::int64_t every = 0;  ///< those of every so many steps; 0: none
    std::int64_t best = 0;   ///< so many with the least validation loss, of equal ones the earlier; 0: none
};

/// Writes <run>/checkpoints/step-N as a whole: model.safetensors, optimiser.safetensors, state.json into a
/// temporary directory, fsync, rename; one that exists is replaced. Then removes those that the rule does not keep.
/// On error (disk full, …) every earlier checkpoint is as it was and nothing of this one remains. Refused where
/// checkpoints/ is a link: nothing is written or removed out of the run.
[[nodiscard]] Status writeCheckpoint(const std::filesystem::path& runDirectory, const CheckpointState& state,
                                     const std::map<std::string, StoredTensor>& model,
                                     const std::map<std::string, StoredTensor>& optimiser, const CheckpointRule& rule);

struct LoadedCheckpoint {
    CheckpointState state;
    SafetensorsFile model;
    SafetensorsFile optimiser;
};
/// That of `step`, verified; without a step the newest that is intact, with a line in `skipped` for each
/// newer one that is not. `skipped` may be null.
[[nodiscard]] Result<LoadedCheckpoint> loadCheckpoint(const std::filesystem::path& runDirectory,
                                                      std::optional<std::int64_t> step,
                                                      std::vector<std::string>* skipped);

/// <run>/checkpoints.
[[nodiscard]] std::filesystem::path checkpointsFolder(const std::filesystem::path& runDirectory);
/// Whether checkpoints can be written there: not where checkpoints/ is a link or no folder.
[[nodiscard]] Status checkCheckpointsFolder(const std::filesystem::path& runDirectory);
/// Steps that have a checkpoint, ascending. What they hold is not read.
[[nodiscard]] std::vector<std::int64_t> checkpointSteps(const std::filesystem::path& runDirectory);
/// The step of the checkpoint with the least validation loss, of equal ones the earlier; nothing where none tells its.
[[nodiscard]] std::optional<std::int64_t> bestCheckpoint(const std::filesystem::path& runDirectory);
/// Removes the checkpoints beyond `step`: they belong to a future that a resumed run gives up.
[[nodiscard]] Status removeCheckpointsAfter(const std::filesystem::path& runDirectory, std::int64_t step);

} // namespace residua::engine
