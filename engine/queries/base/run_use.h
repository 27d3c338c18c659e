// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/session.h"
#include "engine/data/dataset.h"
#include "engine/data/fingerprint.h"
#include "engine/host/preparation.h"
#include "engine/runs/checkpoint.h"
#include "engine/runs/data_part.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// Which run a command works with, and on which data.
struct RunUse {
    std::filesystem::path run;
    std::filesystem::path projectDirectory; ///< empty: the one recorded in the run
    OtherData otherData = OtherData::Refuse;
};

/// A run that exists, read and checked the same way for all who use it.
struct OpenedRun {
    RunInfo info;
    projects::Project project;               ///< the frozen one; it validates
    std::filesystem::path projectDirectory;  ///< absolute
    std::optional<DataFingerprint> recorded; ///< of the run's data, where it remembers them
    DataFingerprint data;                    ///< of the data as they are there now
    std::optional<std::string> otherData;    ///< how they differ from the run's; accepted
    std::vector<std::string> notes;          ///< what a person should know
};

/// Refused where the data are not the run's, unless the use accepts that. `large` and `watch` are those of
/// fingerprintOf().
[[nodiscard]] Result<OpenedRun> openRun(const RunUse& use, LargeFiles large, const PreparationWatch& watch);

/// The run without its data: nothing of them is read, and `data` is empty.
[[nodiscard]] Result<OpenedRun> openRunAlone(const RunUse& use);
/// Gives a run that openRunAlone() has opened its data; refused where openRun() would refuse them.
[[nodiscard]] Status takeData(const RunUse& use, DataFingerprint data, OpenedRun& run);
/// The same of the tokeniser's files alone, those of them that are there.
[[nodiscard]] Status checkTokeniser(const RunUse& use, const OpenedRun& run);

/// The use of a run that a request names.
template <class Request>
[[nodiscard]] RunUse useOf(const Request& request)
{
    return {request.runDirectory, request.projectDirectory, request.otherData};
}

/// What a copy of a run is made from.
struct OpenedCheckpoint {
    OpenedRun run;
    CheckpointFiles checkpoint;
    std::unique_ptr<Dataset> dataset; ///< of the run's project
};
/// Opens the checkpoint of `step`, without one the newest that is intact. The run's notes tell of those that are not.
/// For queries: `watch` as in openRun(), and while the data set is made.
[[nodiscard]] Result<OpenedCheckpoint> openCheckpoint(const RunUse& use, std::optional<std::int64_t> step,
                                                      const PreparationWatch& watch);

/// Refuses what does not validate, with its first error.
[[nodiscard]] Status checkProject(const projects::Project& project);

/// Gives a run's frozen project another total of steps. Its schedule stays that which the run began with, which `notes`
/// (may be null) tells where it is not plain.
void goOnTo(projects::Project& project, std::int64_t steps, std::vector<std::string>* notes);

} // namespace residua::engine
