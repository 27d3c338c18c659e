// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/record/run_branch.h"

#include "engine/api/run_reader.h"
#include "engine/record/run_files.h"
#include "engine/record/run_writer.h"

#include <algorithm>
#include <cmath>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

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

RunInfo infoOf(const RunBranch& branch, const RunReader& reader, const RunInfo& parent)
{
    RunInfo info = parent;
    info.created.clear();
    info.message.clear();
    info.step = branch.step;
    info.steps = branch.steps;
    info.loss = lastAt(reader, metric::kLoss, branch.step, info.loss);
    info.validationLoss = lastAt(reader, metric::kValidationLoss, branch.step, std::nan(""));
    info.parent = branch.parent.string();
    info.parentStep = branch.step;
    return info;
}

} // namespace

Status makeBranch(const RunBranch& branch, const std::function<Status(const fs::path& directory)>& putCheckpoint)
{
    const auto reader = RunReader::open(branch.parent);
    const auto file = readRunFile(branch.parent);
    if (!reader || !file) {
        return reader ? file.error() : reader.error();
    }
    if (!std::ranges::binary_search(reader->checkpoints(), branch.step)) {
        return Error{branch.parent.string(), "has no checkpoint of step " + std::to_string(branch.step)};
    }
    auto writer = RunWriter::create(branch.directory, infoOf(branch, *reader, file->info), branch.project,
                                    file->projectDirectory);
    if (!writer) {
        return writer.error();
    }
    copyNumbers(*reader, branch.step, *writer);
    for (const Matrix& matrix : branch.matrices) {
        writer->matrix(matrix);
    }
    writer->event(branch.event);
    Status written = putCheckpoint(branch.directory);
    RunInfo info = writer->info();
    info.status = RunStatus::Stopped;
    written = written ? writer->flush() : written;
    written = written ? writer->update(info) : written;
    if (!written) {
        std::error_code ignored;
        fs::remove_all(branch.directory, ignored);
    }
    return written;
}

} // namespace residua::engine
