// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/session/run_use.h"

#include "engine/data/fingerprint.h"
#include "engine/results/run_reader.h"
#include "engine/runs/run_files.h"
#include "projects/check/validate.h"

#include <algorithm>
#include <utility>

namespace residua::engine {
namespace {

/// Compares the data with what the run remembers of them.
Status checkData(const RunFile& file, const RunUse& use, OpenedRun& opened)
{
    if (!file.data) {
        opened.notes.emplace_back("the run was made before runs remembered what their data are: whether these are "
                                  "the same is not checked");
        return Done{};
    }
    const std::optional<Error> difference = differenceOf(*file.data, opened.data);
    if (!difference) {
        return Done{};
    }
    const std::string directory = opened.projectDirectory.string();
    if (use.otherData == OtherData::Refuse) {
        return Error{difference->place, "these are not the data of the run: " + difference->message + " in " +
                                            directory +
                                            ". Name the project's folder that has the run's data "
                                            "(--project DIR), or go on with these (--other-data)"};
    }
    opened.otherData = difference->text() + " in " + directory;
    opened.notes.push_back("the data are not those of the run: " + *opened.otherData);
    return Done{};
}

} // namespace

Status checkProject(const projects::Project& project)
{
    const std::vector<projects::Problem> problems = projects::validate(project);
    if (!projects::hasErrors(problems)) {
        return Done{};
    }
    const auto others = std::count_if(problems.begin() + 1, problems.end(), [](const projects::Problem& problem) {
        return problem.severity == projects::Severity::Error;
    });
    const std::string more = others > 0 ? " (and " + std::to_string(others) + " more)" : "";
    return Error{problems.front().place, problems.front().message + more};
}

Result<OpenedRun> openRun(const RunUse& use, const PreparationWatch& watch)
{
    const Result<RunReader> reader = RunReader::open(use.run);
    const Result<RunFile> file = readRunFile(use.run);
    if (!reader || !file) {
        return reader ? file.error() : reader.error();
    }
    Result<projects::Project> project = reader->project();
    Result<RunInfo> info = reader->info();
    if (!project || !info) {
        return project ? info.error() : project.error();
    }
    if (const Status valid = checkProject(*project); !valid) {
        return Error{"the run's project · " + valid.error().place, valid.error().message};
    }
    OpenedRun opened;
    opened.info = std::move(*info);
    opened.project = std::move(*project);
    opened.projectDirectory = resolvedProjectDirectory(use.run, file->projectDirectory);
    if (!use.projectDirectory.empty()) {
        std::error_code code;
        opened.projectDirectory = std::filesystem::absolute(use.projectDirectory, code).lexically_normal();
    }
    Result<DataFingerprint> data = fingerprintOf(opened.project, opened.projectDirectory, watch);
    if (!data) {
        const std::string wanted = "; the project's folder is taken to be " + opened.projectDirectory.string() +
                                   ": name another with --project DIR";
        return Error{data.error().place, data.error().message + wanted};
    }
    opened.data = std::move(*data);
    const Status checked = checkData(*file, use, opened);
    return checked ? Result<OpenedRun>(std::move(opened)) : Result<OpenedRun>(checked.error());
}

Result<OpenedCheckpoint> openCheckpoint(const RunUse& use, std::optional<std::int64_t> step)
{
    Result<OpenedRun> run = openRun(use);
    if (!run) {
        return run.error();
    }
    Result<LoadedCheckpoint> checkpoint = loadCheckpoint(use.run, step, &run->notes);
    if (!checkpoint) {
        return checkpoint.error();
    }
    Result<std::unique_ptr<Dataset>> dataset = Dataset::open(run->project, run->projectDirectory);
    if (!dataset) {
        return dataset.error();
    }
    return OpenedCheckpoint{std::move(*run), std::move(*checkpoint), std::move(*dataset)};
}

} // namespace residua::engine
