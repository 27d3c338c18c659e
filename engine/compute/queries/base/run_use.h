// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/machine/preparation.h"
#include "engine/data/sets/dataset.h"
#include "engine/data/sets/fingerprint.h"
#include "engine/runs/store/checkpoint.h"
#include "engine/runs/store/run_files.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// A run that exists. It is read and checked in the same way for all commands.
struct OpenedRun {
    RunInfo info;
    projects::Project project;               ///< the frozen project; it is valid
    std::filesystem::path projectDirectory;  ///< absolute
    std::optional<DataFingerprint> recorded; ///< of the run's data; nullopt if the run has none recorded
    DataFingerprint data;                    ///< of the data as they are now
    std::optional<std::string> otherData;    ///< how the data differ from the run's, if they do and this was accepted
    std::vector<std::string> notes;          ///< notes for the user

    /// Returns how the run's data are read: by the rules that it began with, and with its classes.
    [[nodiscard]] Reading reading() const { return {info.reading, info.classes}; }
};

/// Opens a run. Refused if the data are not the run's, unless `of` accepts that. `large` and `watch` are those of
/// fingerprintOf().
[[nodiscard]] Result<OpenedRun> openRun(const RunRef& of, LargeFiles large, const PreparationWatch& watch);

/// Opens the run without its data: reads none of them, and `data` is empty.
[[nodiscard]] Result<OpenedRun> openRunAlone(const RunRef& of);
/// Adds the data to a run opened by openRunAlone(); refused where openRun() would refuse them.
[[nodiscard]] Status takeData(const RunRef& of, DataFingerprint data, OpenedRun& run);
/// Checks the tokeniser's files as openRun() checks the data, as far as they exist.
[[nodiscard]] Status checkTokeniser(const RunRef& of, const OpenedRun& run);

/// Names the tensors as those of the view of tower `index` (projects::viewOf).
void nameAsInView(CheckpointFiles& checkpoint, const projects::Project& document, std::size_t index);

/// A checkpoint opened to make another run from it, about one tower: the run's project is the view of it, and so are
/// the names of the tensors.
struct OpenedCheckpoint {
    OpenedRun run;
    CheckpointFiles checkpoint;
    std::unique_ptr<Dataset> dataset; ///< of the run's project
    std::size_t tower = 0;
    std::optional<TensorFiles> averaged = {}; ///< the running mean of the weights, if the run's plan evaluates it

    /// Returns the weights that evaluations of the run use.
    [[nodiscard]] const TensorFiles& evaluated() const { return averaged ? *averaged : checkpoint.model; }
};
/// Opens the checkpoint of its step, or without a step the newest intact one, with a note in the run's notes for each
/// damaged one. `tower` is the name of the tower that it is about, or empty for the first. For queries: `watch` is
/// called as in openRun(), and while the data set is opened.
[[nodiscard]] Result<OpenedCheckpoint> openCheckpoint(const RunRef& of, const PreparationWatch& watch,
                                                      const std::string& tower = {});

/// Returns the first error of an invalid project.
[[nodiscard]] Status checkProject(const projects::Project& project);

/// Sets another total of steps in a run's frozen project. The stage schedule stays the one that the run began with; if
/// it is a curve, adds a note to `notes` (may be null).
void goOnTo(projects::Project& project, std::int64_t steps, std::vector<std::string>* notes);

} // namespace residua::engine
