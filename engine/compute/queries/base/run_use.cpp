// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/queries/base/run_use.h"

#include "engine/compute/train/weight_average.h"
#include "engine/runs/results/run_reader.h"
#include "projects/check/validate.h"
#include "projects/nodes/towers.h"
#include "projects/schedule/stage_schedule.h"

#include <algorithm>
#include <utility>

namespace residua::engine {
namespace {

/// Returns the error for data that are not the run's, with the remedies.
Error otherDataError(const Error& difference, const OpenedRun& run)
{
    return {difference.place, "these are not the data of the run: " + difference.message + " in " +
                                  run.projectDirectory.string() +
                                  ". Name the project's folder that has the run's data (--project DIR), or go on with "
                                  "these (--other-data)"};
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

void goOnTo(projects::Project& project, std::int64_t steps, std::vector<std::string>* notes)
{
    const std::int64_t begun = project.training.steps;
    const auto goOn = [&](projects::Network& network) {
        network.stack().schedule = projects::continued(std::move(network.stack().schedule), begun, steps);
    };
    goOn(project.network);
    for (projects::Tower& tower : project.towers) {
        goOn(tower.network);
    }
    project.training.steps = steps;
    if (notes && steps != begun && project.stack().schedule.course == projects::DropCourse::Curve) {
        notes->push_back("the share of kept layers goes on along the curve of " + std::to_string(begun) +
                         " steps that it began with; the run has " + std::to_string(steps) + " steps now");
    }
}

Result<OpenedRun> openRunAlone(const RunRef& of)
{
    const Result<RunReader> reader = RunReader::open(of.runDirectory);
    Result<RunFile> file = readRunFile(of.runDirectory);
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
    opened.recorded = std::move(file->data);
    opened.projectDirectory = resolvedProjectDirectory(of.runDirectory, file->projectDirectory);
    if (!of.projectDirectory.empty()) {
        std::error_code code;
        opened.projectDirectory = std::filesystem::absolute(of.projectDirectory, code).lexically_normal();
    }
    return opened;
}

Status takeData(const RunRef& of, DataFingerprint data, OpenedRun& run)
{
    run.data = std::move(data);
    if (!run.recorded) {
        run.notes.emplace_back("the run was made before runs remembered what their data are: whether these are "
                               "the same is not checked");
        return Done{};
    }
    const std::optional<Error> difference = differenceOf(*run.recorded, run.data);
    if (!difference) {
        return Done{};
    }
    if (of.otherData == OtherData::Refuse) {
        return otherDataError(*difference, run);
    }
    run.otherData = difference->text();
    run.notes.push_back("the data are not those of the run: " + *run.otherData + " in " +
                        run.projectDirectory.string());
    return Done{};
}

Status checkTokeniser(const RunRef& of, const OpenedRun& run)
{
    const Result<DataFingerprint> there = tokeniserFingerprint(run.project, run.projectDirectory);
    if (!there || !run.recorded || of.otherData == OtherData::Accept) {
        return Done{};
    }
    for (const DataPart& part : *there) {
        const auto known = std::ranges::find(*run.recorded, part.name, &DataPart::name);
        const std::optional<Error> difference =
            known == run.recorded->end() ? std::nullopt : differenceOf({*known}, {part});
        if (difference) {
            return otherDataError(*difference, run);
        }
    }
    return Done{};
}

Result<OpenedRun> openRun(const RunRef& of, LargeFiles large, const PreparationWatch& watch)
{
    OpenedRun opened = RESIDUA_TRY(openRunAlone(of));
    Result<DataFingerprint> data =
        fingerprintOf(opened.project, opened.projectDirectory, watch, large, opened.info.reading);
    if (!data) {
        const std::string wanted = "; the project's folder is taken to be " + opened.projectDirectory.string() +
                                   ": name another with --project DIR";
        return Error{data.error().place, data.error().message + wanted};
    }
    RESIDUA_TRY(takeData(of, std::move(*data), opened));
    return opened;
}

void nameAsInView(CheckpointFiles& checkpoint, const projects::Project& document, std::size_t index)
{
    const auto nameOf = [&](const std::string& name) { return projects::nameOfView(document, index, name); };
    checkpoint.model.rename(nameOf);
    checkpoint.optimiser.rename(nameOf);
}

Result<OpenedCheckpoint> openCheckpoint(const RunRef& of, const PreparationWatch& watch, const std::string& tower)
{
    OpenedRun run = RESIDUA_TRY(openRun(of, LargeFiles::AsKnown, watch));
    const Result<std::size_t> index = projects::chosenTower(run.project, tower);
    CheckpointFiles checkpoint = RESIDUA_TRY(index ? findCheckpoint(of.runDirectory, of.step, &run.notes)
                                                   : Result<CheckpointFiles>(index.error()));
    std::unique_ptr<Dataset> dataset =
        RESIDUA_TRY(Dataset::open(run.project, run.projectDirectory, watch, run.reading()));
    std::optional<TensorFiles> averaged;
    if (WeightAverage::isEvaluatedBy(run.project.training)) {
        CheckpointFiles again = RESIDUA_TRY(findCheckpoint(of.runDirectory, checkpoint.state.step, nullptr));
        takeEvaluatedWeights(again, run.project.training);
        nameAsInView(again, run.project, *index);
        averaged.emplace(std::move(again.model));
    }
    nameAsInView(checkpoint, run.project, *index);
    run.project = projects::viewOf(std::move(run.project), *index);
    return OpenedCheckpoint{std::move(run), std::move(checkpoint), std::move(dataset), *index, std::move(averaged)};
}

} // namespace residua::engine
