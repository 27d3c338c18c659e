// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/results/run_upkeep.h"

#include "engine/runs/results/effects.h"
#include "engine/runs/results/run_branch.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/store/checkpoint.h"
#include "engine/runs/store/run_directory.h"
#include "engine/runs/store/run_files.h"
#include "projects/base/text.h"
#include "projects/commands/commands.h"

#include <algorithm>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTrash = ".trash";

Result<fs::path> moveInto(const fs::path& folder, const fs::path& run)
{
    std::error_code code;
    fs::create_directories(folder, code);
    const fs::path place = freePath(folder / run.filename());
    fs::rename(run, place, code);
    if (code) {
        return Error{run.string(), "cannot be moved to " + place.string() + ": " + code.message()};
    }
    return place;
}

} // namespace

Status checkForkProject(const projects::Project& own, const projects::Project& wanted)
{
    for (const projects::SettingChange& setting : projects::settingsThatDiffer({own, {}}, wanted)) {
        if (!projects::canChangeInRun(setting.pointer)) {
            const bool isOfLoop = setting.changes.front().placeText().find("loops") != std::string::npos;
            return Error{setting.changes.front().placeText(),
                         "differs, and a fork keeps it as its run has it" +
                             std::string(isOfLoop ? "; analyze knockout RUN --by visits measures other numbers of "
                                                    "visits, and a new run trains with them"
                                                  : "")};
        }
    }
    return Done{};
}

Result<fs::path> forkRun(const fs::path& run, std::int64_t step, const fs::path& newRun,
                         const projects::Project* wanted)
{
    const auto reader = RESIDUA_TRY(RunReader::open(run));
    if (!std::ranges::binary_search(reader.checkpoints(), step)) {
        const auto file = readRunFile(run);
        const std::string hint = file && file->remote ? " here: fetch it first, with residua-cli fetch " +
                                                            run.string() + " --step " + std::to_string(step)
                                                      : "";
        return Error{run.string(), "has no checkpoint of step " + std::to_string(step) + hint};
    }
    const auto project = reader.project();
    const auto info = reader.info();
    if (!project || !info) {
        return project ? info.error() : project.error();
    }
    if (wanted != nullptr) {
        RESIDUA_TRY(checkForkProject(*project, *wanted));
    }
    RunBranch branch;
    branch.parent = run;
    branch.step = step;
    branch.directory = newRun;
    branch.project = wanted != nullptr ? *wanted : *project;
    branch.steps = info->steps;
    branch.event = {step, RunEventKind::Forked, "from " + run.filename().string()};
    return makeBranch(branch, [&](const fs::path& directory) -> Status {
        // Reads and writes instead of copying, so that damage is detected and links are not copied.
        const auto checkpoint = RESIDUA_TRY(loadCheckpoint(run, step, nullptr));
        const Status written = writeCheckpoint(directory, checkpoint.state, checkpoint.model.tensors(),
                                               checkpoint.optimiser.tensors(), {});
        return written ? copyEffects(run, directory, step) : written;
    });
}

std::vector<std::int64_t> resumableSteps(const fs::path& run)
{
    const auto reader = RunReader::open(run);
    const auto file = readRunFile(run);
    std::vector<std::int64_t> steps = reader ? reader->checkpoints() : std::vector<std::int64_t>();
    if (reader && file && file->remote) {
        for (const RunEvent& event : reader->events()) {
            if (event.kind == RunEventKind::Checkpoint) {
                steps.push_back(event.step);
            }
        }
        std::ranges::sort(steps);
        steps.erase(std::ranges::unique(steps).begin(), steps.end());
    }
    return steps;
}

Result<StopAsked> stopRun(const fs::path& run, std::int64_t step)
{
    const auto file = RESIDUA_TRY(readRunFile(run));
    if (step > file.info.steps) {
        return Error{run.string(), "is planned for " + std::to_string(file.info.steps) + " steps, and cannot end at " +
                                       std::to_string(step)};
    }
    if (!isRunLocked(run)) {
        return StopAsked::AtRest;
    }
    const Status asked = writeStopRequest(run, step);
    return asked ? Result<StopAsked>(StopAsked::Asked) : Result<StopAsked>(asked.error());
}

Result<fs::path> trashRun(const fs::path& given)
{
    const fs::path named = given.lexically_normal();
    const fs::path run = named.has_filename() ? named : named.parent_path(); // written with a trailing slash
    if (!isThere(run / kRunFile)) {
        return Error{run.string(), "is no run"};
    }
    if (isRunLocked(run)) {
        return Error{run.string(), "is being written: stop it first"};
    }
    return moveInto(run.parent_path() / kTrash, run);
}

Result<fs::path> restoreRun(const fs::path& trashed)
{
    return moveInto(trashed.parent_path().parent_path(), trashed);
}

} // namespace residua::engine
