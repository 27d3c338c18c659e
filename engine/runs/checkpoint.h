// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/files/safetensors.h"
#include "engine/files/safetensors_writer.h"
#include "engine/files/tensor_files.h"
#include "projects/base/result.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// What a checkpoint holds beside tensors; state.json, with the identity of its run and a checksum of each tensor file,
/// so that a checkpoint of another run and a flipped bit are found before they train.
struct CheckpointState {
    std::int64_t step = 0;
    std::int64_t units = 0; ///< tokens or samples seen
    double seconds = 0;
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

/// Writes such a checkpoint a tensor at a time. Nothing is at its place before end(); what is written until then goes
/// with this value.
class CheckpointWriter {
public:
    using Tensors = std::map<std::string, StoredTensor>;
    /// `model` and `optimiser` outlive it.
    [[nodiscard]] static Result<CheckpointWriter> begin(const std::filesystem::path& runDirectory,
                                                        const CheckpointState& state, const Tensors& model,
                                                        const Tensors& optimiser);
    CheckpointWriter(CheckpointWriter&& other) noexcept;
    CheckpointWriter& operator=(CheckpointWriter&&) = delete;
    ~CheckpointWriter();

    [[nodiscard]] bool atEnd() const;
    /// One tensor; none at the end.
    [[nodiscard]] Status writeNext();
    /// Brings all to its place once all is written.
    [[nodiscard]] Status end(const CheckpointRule& rule);

private:
    CheckpointWriter(std::filesystem::path runDirectory, CheckpointState state, const Tensors& model,
                     const Tensors& optimiser);
    [[nodiscard]] Status makeFiles();
    [[nodiscard]] Status endFiles();

    std::filesystem::path m_run;
    std::filesystem::path m_temporary; ///< empty: nothing is to be removed
    CheckpointState m_state;
    const Tensors* m_model;
    const Tensors* m_optimiser;
    std::optional<SafetensorsWriter> m_modelFile;
    std::optional<SafetensorsWriter> m_optimiserFile;
};

struct LoadedCheckpoint {
    CheckpointState state;
    SafetensorsFile model;
    SafetensorsFile optimiser;
};
/// Loads the checkpoint of `step`, verified; without a step the newest that is intact, with a line in `skipped` for
/// each newer one that is not. `skipped` may be null.
[[nodiscard]] Result<LoadedCheckpoint> loadCheckpoint(const std::filesystem::path& runDirectory,
                                                      std::optional<std::int64_t> step,
                                                      std::vector<std::string>* skipped);

/// A checkpoint whose tensors are read when they are asked for.
struct CheckpointFiles {
    CheckpointState state;
    TensorFiles model;
    TensorFiles optimiser;
};
/// The same checkpoint, verified as well, with none of its tensors in memory.
[[nodiscard]] Result<CheckpointFiles> findCheckpoint(const std::filesystem::path& runDirectory,
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
