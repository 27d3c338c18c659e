// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/files/safetensors.h"
#include "engine/base/files/safetensors_writer.h"
#include "engine/base/files/tensor_files.h"
#include "engine/base/machine/preparation.h"
#include "projects/base/result.h"
#include "projects/model/objective.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// The contents of a checkpoint beside its tensors, in state.json. The file also has the identity of the run and a
/// checksum of each tensor file, so that a checkpoint of another run or a flipped bit is detected before training.
struct CheckpointState {
    std::int64_t step = 0;
    std::int64_t units = 0; ///< tokens or samples seen
    double seconds = 0;
    std::map<std::string, std::string> cursors; ///< data cursors and random states, each in its owner's text format
    /// The last value of validation before this state, in the quantity that the run is judged by; finite.
    std::optional<double> judged;

    bool operator==(const CheckpointState&) const = default;
};

/// The rule for keeping checkpoints when a new one is written: those that match any of the three fields.
struct CheckpointRule {
    std::int64_t newest = 0; ///< this many newest ones; 0: all
    std::int64_t every = 0;  ///< those at multiples of this step; 0: none
    std::int64_t best = 0;   ///< this many with the best value of validation, the earlier one of equals; 0: none
    projects::Judge judge = {};
    /// Tensors of the optimiser whose names begin with this are removed from all older checkpoints; empty: none.
    std::string onlyNewest = {};
};

/// Writes <run>/checkpoints/step-N: writes model.safetensors, optimiser.safetensors and state.json into a temporary
/// directory, calls fsync, and renames it; replaces an existing one. Then removes the checkpoints, and the tensors of
/// older ones, that the rule does not keep. On error (disk full, …), every earlier checkpoint is unchanged and nothing
/// of this one remains. Refused if checkpoints/ is a link, so that nothing outside the run is written or removed.
[[nodiscard]] Status writeCheckpoint(const std::filesystem::path& runDirectory, const CheckpointState& state,
                                     const std::map<std::string, StoredTensor>& model,
                                     const std::map<std::string, StoredTensor>& optimiser, const CheckpointRule& rule);

/// Writes such a checkpoint one tensor at a time. It is at its place only after end(); until then, the destructor
/// removes the files.
class CheckpointWriter {
public:
    using Tensors = std::map<std::string, StoredTensor>;
    /// `model` and `optimiser` must outlive this.
    [[nodiscard]] static Result<CheckpointWriter> begin(const std::filesystem::path& runDirectory,
                                                        const CheckpointState& state, const Tensors& model,
                                                        const Tensors& optimiser);
    CheckpointWriter(CheckpointWriter&& other) noexcept;
    CheckpointWriter& operator=(CheckpointWriter&&) = delete;
    ~CheckpointWriter();

    [[nodiscard]] bool atEnd() const;
    /// Writes one tensor; does nothing at the end.
    [[nodiscard]] Status writeNext();
    /// Moves the checkpoint to its place. Must be called when all tensors are written.
    [[nodiscard]] Status end(const CheckpointRule& rule);

private:
    CheckpointWriter(std::filesystem::path runDirectory, CheckpointState state, const Tensors& model,
                     const Tensors& optimiser);
    [[nodiscard]] Status makeFiles();
    [[nodiscard]] Status endFiles();

    std::filesystem::path m_run;
    std::filesystem::path m_temporary; ///< empty: there is nothing to remove
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
/// Loads and verifies the checkpoint of `step`. Without a step, loads the newest intact one and adds a line to
/// `skipped` for each newer one that is not. `skipped` may be null.
[[nodiscard]] Result<LoadedCheckpoint> loadCheckpoint(const std::filesystem::path& runDirectory,
                                                      std::optional<std::int64_t> step,
                                                      std::vector<std::string>* skipped);

/// A checkpoint whose tensors are read on request.
struct CheckpointFiles {
    CheckpointState state;
    TensorFiles model;
    TensorFiles optimiser;
};
/// Opens a checkpoint as loadCheckpoint() does, also verified, but holds no tensor in memory.
[[nodiscard]] Result<CheckpointFiles> findCheckpoint(const std::filesystem::path& runDirectory,
                                                     std::optional<std::int64_t> step,
                                                     std::vector<std::string>* skipped);

/// Returns an error unless `folder`, which need not be in the run, has an intact checkpoint of `step` of the run, and
/// if `watch` cancels, whose share is 1 throughout.
[[nodiscard]] Status checkCheckpoint(const std::filesystem::path& folder, std::int64_t step,
                                     const std::filesystem::path& runDirectory, const PreparationWatch& watch);

/// Returns <run>/checkpoints.
[[nodiscard]] std::filesystem::path checkpointsFolder(const std::filesystem::path& runDirectory);
/// Returns an error if checkpoints cannot be written there: if checkpoints/ is a link or not a folder.
[[nodiscard]] Status checkCheckpointsFolder(const std::filesystem::path& runDirectory);
/// Returns the steps that have a checkpoint, ascending. Does not read the checkpoints.
[[nodiscard]] std::vector<std::int64_t> checkpointSteps(const std::filesystem::path& runDirectory);
/// Returns the step of the checkpoint with the best value of validation (of equals, the earlier step); nullopt if no
/// checkpoint records one.
[[nodiscard]] std::optional<std::int64_t> bestCheckpoint(const std::filesystem::path& runDirectory,
                                                         const projects::Judge& judge);
/// Removes the checkpoints after `step`, which a resumed run abandons.
[[nodiscard]] Status removeCheckpointsAfter(const std::filesystem::path& runDirectory, std::int64_t step);

// The files in a checkpoint's folder.
inline constexpr const char* kStateFile = "state.json";
inline constexpr const char* kModelTensors = "model.safetensors";
inline constexpr const char* kOptimiserTensors = "optimiser.safetensors";
inline constexpr std::array kCheckpointFiles{kStateFile, kModelTensors, kOptimiserTensors};

/// Returns a CRC-32C as in state.json: eight hexadecimal digits.
[[nodiscard]] std::string checksumText(std::uint32_t checksum);

/// Returns the text of state.json with its own checksum and those of the tensor files. `run` is the identity of the
/// run, or empty.
[[nodiscard]] std::string stateText(const CheckpointState& state, const std::string& run, std::uint32_t model,
                                    std::uint32_t optimiser);

struct StateFile {
    CheckpointState state;
    std::string run; ///< the identity of its run; empty if an earlier version wrote it
    std::string modelChecksum;
    std::string optimiserChecksum;
};
/// Reads the state in a checkpoint's folder. The folder's name must have the same step.
[[nodiscard]] Result<StateFile> readState(const std::filesystem::path& directory, std::int64_t step);

} // namespace residua::engine
