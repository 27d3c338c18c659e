// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/results/run_branch.h"

#include "engine/base/api/row_curves.h"
#include "engine/runs/results/run_groups.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/spent_flops.h"
#include "engine/runs/store/new_run.h"
#include "engine/runs/store/run_writer.h"
#include "projects/diff/diff.h"

#include <algorithm>
#include <iterator>
#include <system_error>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

/// Copies the parent's numbers up to the step. Skips its matrices of the wiring if the branch has another wiring,
/// because they would describe shortcuts that the branch does not have.
void copyNumbers(const RunReader& from, std::int64_t step, bool sameWiring, RunWriter& to)
{
    for (const std::string& name : from.metricNames()) {
        for (const MetricPoint& point : from.metric(name)) {
            if (point.step <= step) {
                to.metric(name, point.step, point.value);
            }
        }
    }
    for (const MatrixName& name : from.matrixNames()) {
        if (!sameWiring && !isDrawnAsCurves(name) && !name.isOfOutputs()) {
            continue;
        }
        for (const std::int64_t at : from.matrixSteps(name)) {
            const auto matrix = at <= step ? from.matrix(name, at) : Result<Matrix>(Error{});
            if (matrix) {
                to.matrix(*matrix);
            }
        }
    }
    for (const RunEvent& event : from.events()) {
        if (event.step <= step) {
            to.event(event);
        }
    }
}

/// Returns the parent's name with what the branch has in its place: a wiring, stages, a rank.
std::string nameOfBranch(const std::string& parent, const projects::Project& before, const projects::Project& after)
{
    std::vector<std::string> words;
    const auto wiringOf = [](const projects::Project& project) {
        return projects::wiringName(project.stack().topology, project.network);
    };
    if (const std::string wiring = wiringOf(after); wiring != wiringOf(before)) {
        const std::string custom = "custom from " + wiringOf(before) + ", ";
        words.push_back(wiring.starts_with(custom) ? wiring.substr(custom.size()) : wiring); // "1 pruned"
    }
    const std::vector<std::string> former = methodWords(before);
    std::ranges::copy_if(methodWords(after), std::back_inserter(words),
                         [&](const std::string& word) { return std::ranges::find(former, word) == former.end(); });
    return withWords(parent, words);
}

RunInfo infoOf(const RunBranch& branch, const RunReader& reader, const RunInfo& parent, bool sameProject)
{
    RunInfo info = parent;
    if (!sameProject) {
        info.membership.reset(); // a run that trains differently is not a point of the grid
    }
    info.created.clear();
    info.message.clear();
    info.status = RunStatus::Running; // a branch that is cut off while it is made reads as interrupted
    info.step = branch.step;
    info.steps = branch.steps;
    if (parent.step != branch.step) {
        info.values.clear(); // those of the same step are valid if the store is lost
    }
    reader.readValues(info, branch.step);
    for (const auto& [name, value] : branch.values) {
        info.values[name] = value;
    }
    info.parent = branch.parent.string();
    info.parentStep = branch.step;
    return info;
}

/// Claims the place of the branch: its directory, or a new one beside its parent.
Result<NewRun> placeOf(const RunBranch& branch)
{
    if (!branch.directory.empty()) {
        return NewRun::begin(branch.directory);
    }
    const fs::path parent = branch.parent.lexically_normal();
    // Also handles a parent written with a trailing slash.
    return NewRun::beginIn((parent.has_filename() ? parent : parent.parent_path()).parent_path(), branch.project.name);
}

Result<RunWriter> created(const RunBranch& branch, fs::path directory, RunInfo info, const RunFile& parent)
{
    fs::path project = resolvedProjectDirectory(branch.parent, parent.projectDirectory);
    std::optional<DataFingerprint> data = parent.data;
    if (branch.source) {
        project = branch.source->first;
        data = branch.source->second;
    }
    if (parent.projectDirectory.is_relative()) { // relative, as in its parent
        std::error_code code;
        project = fs::proximate(project, code);
        directory = fs::proximate(directory, code);
    }
    return RunWriter::create(directory, std::move(info), branch.project, project, std::move(data));
}

} // namespace

Result<fs::path> makeBranch(const RunBranch& branch,
                            const std::function<Status(const fs::path& directory)>& putCheckpoint)
{
    const auto reader = RunReader::open(branch.parent);
    const auto file = readRunFile(branch.parent);
    if (!reader || !file) {
        return reader ? file.error() : reader.error();
    }
    const auto before = reader->project();
    const bool sameProject = before && *before == branch.project;
    auto place = placeOf(branch);
    RunInfo info = infoOf(branch, *reader, file->info, sameProject);
    if (before && !sameProject) {
        info.name = nameOfBranch(info.name, *before, branch.project);
    }
    auto made = RESIDUA_TRY(place ? created(branch, place->scratch(), std::move(info), *file)
                                  : Result<RunWriter>(place.error()));
    std::optional<RunWriter> writer(std::move(made));
    copyNumbers(*reader, branch.step,
                before && before->stack().topology.wiring == branch.project.stack().topology.wiring, *writer);
    if (const auto spent = spentFlopsAt(*reader, branch.step, sameProject)) {
        writer->metric(kSpentFlops, spent->step, spent->value);
    }
    for (const auto& [name, value] : branch.values) {
        writer->metric(name, branch.step, value);
    }
    for (const Matrix& matrix : branch.matrices) {
        writer->matrix(matrix);
    }
    writer->event(branch.event);
    for (const RunEvent& event : branch.events) {
        writer->event(event);
    }
    const fs::path& scratch = place->scratch();
    const auto gap = reader->gap(); // a damaged record is not copied
    Status written = gap && *gap ? writeGap(scratch, **gap) : Status(Done{});
    const auto import = readImport(branch.parent); // likewise
    written = written && import && *import ? writeImport(scratch, **import) : written;
    written = written ? writer->flush() : written;
    written = written ? putCheckpoint(scratch) : written;
    info = writer->info();
    info.status = RunStatus::Stopped;
    written = written ? writer->update(info) : written;
    writer.reset(); // closed before it is renamed
    written = written ? place->keep() : written;
    return written ? Result<fs::path>(place->directory()) : Result<fs::path>(written.error());
}

} // namespace residua::engine
