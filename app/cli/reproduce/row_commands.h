// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "app/cli/reproduce/comparisons.h"
#include "app/cli/reproduce/reproductions.h"
#include "app/cli/sweep/sweep_plan.h"
#include "app/cli/terminal/console.h"
#include "projects/model/project.h"

#include <nlohmann/json_fwd.hpp>

#include <set>
#include <string>
#include <vector>

namespace residua::cli {

/// The runs that one or several command lines of the table train.
struct Trained {
    std::vector<projects::Project> projects; ///< one for each run
    std::vector<std::string> labels;         ///< of the same runs, without seeds; empty for a run of no sweep
};
/// Returns the runs of one line of the row, for each of its seeds. Empty if the line trains nothing.
[[nodiscard]] Trained trainedBy(const Reproduction& row, const std::string& line, const Console& console);
/// Returns the runs of all commands of the row.
[[nodiscard]] Trained trainedBy(const Reproduction& row, const Console& console);
/// Returns the runs that the commands train: for each comparison its sides, or all of a row that has none.
[[nodiscard]] std::vector<TrainedRuns> trainedRuns(const Reproduction& row, const Console& console);

/// The end of a row's commands.
struct Computed {
    Exit ended = Exit::Ok;
    bool wasStopped = false;      ///< a command could not do its work: those after it did not run
    std::set<std::string> failed; ///< folders of failed runs, and of what would build on them
};
/// Runs the row's commands in order, with `out` for the folder and the options of `arguments` that they take. A failed
/// run is a result that comparisons leave out: only the commands that need it do not run.
[[nodiscard]] Computed compute(const Reproduction& row, const std::string& out, const Arguments& arguments,
                               const Console& console);

/// The results of a row's commands in a folder.
struct Given {
    std::vector<SweepPlan> plans; ///< of the row's sweeps, in order
    std::string out;
};
[[nodiscard]] Given resultsIn(const std::string& out, const Reproduction& row, const Console& console);
/// Returns one outcome for each comparison of the row.
[[nodiscard]] std::vector<Outcome> outcomesIn(const Given& given, const Reproduction& row);
/// Returns the values of the row's comparisons as recordings in the form of resources/reproductions.json, which lack
/// the commit. A command without values has none.
[[nodiscard]] nlohmann::json recordingsIn(const Given& given, const Reproduction& row);

} // namespace residua::cli
