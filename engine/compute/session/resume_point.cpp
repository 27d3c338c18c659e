// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/session/active_run.h"

#include "engine/runs/results/run_reader.h"

#include <algorithm>
#include <utility>

namespace residua::engine {
namespace {

/// Returns the origin of the first weights of a run that did not draw them; initialisation cannot restore such weights.
std::optional<std::string> originOf(const std::filesystem::path& run, const RunInfo& info)
{
    if (!info.parent.empty()) {
        return "those of step " + std::to_string(info.parentStep) + " of " + info.parent;
    }
    const Result<RunReader> reader = RunReader::open(run);
    const std::vector<RunEvent> events = reader ? reader->events() : std::vector<RunEvent>();
    const auto imported = std::ranges::find(events, RunEventKind::Imported, &RunEvent::kind);
    return imported == events.end() ? std::nullopt : std::optional(imported->text);
}

} // namespace

Result<std::optional<CheckpointFiles>> checkpointToResume(const ResumeRun& command, const RunInfo& info,
                                                          std::vector<std::string>& notes)
{
    if (!command.of.step && info.status != RunStatus::Finished && checkpointSteps(command.of.runDirectory).empty()) {
        if (const auto origin = originOf(command.of.runDirectory, info)) {
            return Error{command.of.runDirectory.string(), "has lost the weights that it began with, " + *origin +
                                                               ": it has no checkpoint. Make it anew from there"};
        }
        return std::optional<CheckpointFiles>();
    }
    CheckpointFiles loaded = RESIDUA_TRY(findCheckpoint(command.of.runDirectory, command.of.step, &notes));
    return std::optional<CheckpointFiles>(std::move(loaded));
}

} // namespace residua::engine
