// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/api/run_upkeep.h"

#include "engine/api/run_reader.h"
#include "engine/record/checkpoint.h"
#include "engine/record/run_files.h"
#include "engine/record/run_writer.h"

#include <algorithm>
#include <cmath>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTrash = ".trash";

void copyNumbers(const RunReader& from, std::int64_t step, RunWriter& to)
{
    for (const std::string& name : from.metricNames()) {
        for (const MetricPoint& point : from.metric(name)) {
            if (point.step <= step) {
                to.metric(name, point.step, point.value);
            }
        }
    }
    for (const std::string& name : from.matrixNames()) {
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

double lastAt(const RunReader& run, const char* name, std::int64_t step, double otherwise)
{
    double value = otherwise;
    for (const MetricPoint& point : run.metric(name)) {
        value = point.step <= step ? point.value : value;
    }
    return value;
}

/// `base`, or the first of base-2, base-3, … in `folder` that does not exist.
fs::path freePlace(const fs::path& folder, const fs::path& base)
{
    std::error_code ignored;
    fs::path place = folder / base;
    for (int number = 2; fs::exists(place, ignored); ++number) {
        place = folder / (base.string() + "-" + std::to_string(number));
    }
    return place;
}

Result<fs::path> moveInto(const fs::path& folder, const fs::path& run)
{
    std::error_code code;
    fs::create_directories(folder, code);
    const fs::path place = freePlace(folder, run.filename());
    fs::rename(run, place, code);
    if (code) {
        return Error{run.string(), "cannot be moved to " + place.string() + ": " + code.message()};
    }
    return place;
}

} // namespace

Status forkRun(const fs::path& run, std::int64_t step, const fs::path& newRun)
{
    const auto reader = RunReader::open(run);
    const auto file = readRunFile(run);
    if (!reader || !file) {
        return reader ? file.error() : reader.error();
    }
    const auto project = reader->project();
    if (!project) {
        return project.error();
    }
    const std::vector<std::int64_t> steps = reader->checkpoints();
    if (std::find(steps.begin(), steps.end(), step) == steps.end()) {
        return Error{run.string(), "has no checkpoint of step " + std::to_string(step)};
    }
    RunInfo info = file->info;
    info.created.clear();
    info.message.clear();
    info.step = step;
    info.loss = lastAt(*reader, metric::kLoss, step, info.loss);
    info.validationLoss = lastAt(*reader, metric::kValidationLoss, step, std::nan(""));
    info.parent = run.string();
    info.parentStep = step;
    auto writer = RunWriter::create(newRun, info, *project, file->projectDirectory);
    if (!writer) {
        return writer.error();
    }
    copyNumbers(*reader, step, *writer);
    writer->event({step, "forked", "from " + run.filename().string()});
    const fs::path to = checkpointDirectory(newRun, step);
    std::error_code code;
    fs::create_directories(to.parent_path(), code);
    fs::copy(checkpointDirectory(run, step), to, fs::copy_options::recursive, code);
    info = writer->info();
    info.status = RunStatus::Stopped;
    Status written = writer->flush();
    written = written ? writer->update(info) : written;
    if (code || !written) {
        std::error_code ignored;
        fs::remove_all(newRun, ignored);
        return code ? Error{to.string(), "the checkpoint cannot be copied: " + code.message()} : written.error();
    }
    return Done{};
}

Result<fs::path> trashRun(const fs::path& run)
{
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
