// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/runs/named_runs.h"

#include "engine/base/api/environment.h"
#include "engine/runs/results/run_reader.h"
#include "projects/file/store.h"
#include "projects/nodes/towers.h"

#include <set>
#include <system_error>

namespace residua::cli {
namespace {

namespace fs = std::filesystem;

std::vector<engine::RunInfo> runsAt(const fs::path& path)
{
    std::error_code ignored;
    if (fs::exists(path / engine::kRunFile, ignored)) {
        const auto info = engine::readRunInfo(path);
        return info ? std::vector{*info} : std::vector<engine::RunInfo>();
    }
    return engine::listRuns(fs::exists(path / projects::kProjectFile, ignored) ? path / projects::kRunsFolder : path);
}

} // namespace

Result<std::vector<engine::RunInfo>> namedRuns(std::span<const std::string> paths, const std::string& sweep)
{
    std::vector<engine::RunInfo> named;
    std::set<fs::path> seen;
    for (const std::string& path : paths) {
        const std::vector<engine::RunInfo> runs = runsAt(path);
        if (runs.empty()) {
            return Error{path, "holds no run; expected a run, a folder of runs or a project"};
        }
        for (const engine::RunInfo& run : runs) {
            std::error_code ignored;
            const bool isWanted = sweep.empty() || (run.membership && run.membership->sweep == sweep);
            if (isWanted && seen.insert(fs::weakly_canonical(run.directory, ignored)).second) {
                named.push_back(run);
            }
        }
    }
    if (named.empty()) {
        return Error{sweep, "is no sweep of these runs"};
    }
    return named;
}

Result<projects::Project> projectOfRun(const fs::path& run, const std::string& tower)
{
    Result<projects::Project> project = engine::readRunProject(run);
    const Result<std::size_t> index =
        project ? projects::chosenTower(*project, tower) : Result<std::size_t>(project.error());
    return index ? Result<projects::Project>(projects::viewOf(*std::move(project), *index)) : index.error();
}

} // namespace residua::cli
