// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/records/run_loader.h"

#include "app/report/loss_figures.h"
#include "engine/base/api/row_curves.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/stages.h"
#include "projects/cost/cost.h"
#include "projects/nodes/node_kinds.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

namespace residua::app {
namespace {

constexpr double kMostUnits = 9e18;
constexpr std::int64_t kBoundSteps = 400; ///< number of steps at which bounds are drawn

/// True if StepRecord has the metric.
bool isOfSteps(const std::string& name)
{
    return name == engine::metric::kUnits ||
           std::ranges::any_of(engine::kStepMetrics, [&](const auto& metric) { return name == metric.first; });
}

std::vector<engine::StepRecord> stepsOf(const engine::RunReader& reader, std::int64_t after)
{
    std::map<std::int64_t, engine::StepRecord> steps;
    const auto fill = [&](const char* name, auto put) {
        for (const engine::MetricPoint& point : reader.metric(name, after)) {
            engine::StepRecord& record = steps[point.step];
            record.step = point.step;
            put(record, point.value);
        }
    };
    for (const auto& [name, field] : engine::kStepMetrics) {
        fill(name, [field](engine::StepRecord& r, double v) { r.*field = v; });
    }
    fill(engine::metric::kUnits, [](engine::StepRecord& r, double v) {
        r.tokens = v >= 0 && v < kMostUnits ? static_cast<std::int64_t>(v) : 0; // a store may be damaged
    });
    std::vector<engine::StepRecord> records;
    records.reserve(steps.size());
    for (auto& [step, record] : steps) {
        records.push_back(record);
    }
    return records;
}

/// True for a matrix that only reports show: the Samples panel asks for images of its own.
bool isOfReports(const engine::MatrixName& name)
{
    return name.kind == engine::matrix::kSamples;
}

/// Returns the recorded steps of a matrix after `after`.
std::vector<std::int64_t> stepsOf(const engine::RunReader& reader, const engine::MatrixName& name, std::int64_t after)
{
    std::vector<std::int64_t> steps = reader.matrixSteps(name);
    std::erase_if(steps, [after](std::int64_t step) { return step <= after; });
    return steps;
}

/// Returns n such that every n-th step of the matrices for heatmaps needs at most `bytes`.
std::size_t strideFor(const engine::RunReader& reader, std::int64_t after, std::size_t bytes)
{
    std::size_t all = 0;
    for (const engine::MatrixName& name : reader.matrixNames()) {
        const std::vector<std::int64_t> steps = stepsOf(reader, name, after);
        if (!steps.empty() && !engine::isDrawnAsCurves(name) && !isOfReports(name)) {
            const auto newest = reader.matrix(name, steps.back()); // those of one name have one shape
            all += newest ? steps.size() * visualizers::bytesOf(*newest) : 0;
        }
    }
    return std::max<std::size_t>((all + bytes - 1) / bytes, 1);
}

/// Returns the matrices after a step, of each name ascending.
std::vector<engine::Matrix> matricesOf(const engine::RunReader& reader, std::int64_t after, Matrices wanted,
                                       std::size_t bytes)
{
    const std::size_t stride = wanted == Matrices::All ? strideFor(reader, after, bytes) : 1;
    std::vector<engine::Matrix> matrices;
    for (const engine::MatrixName& name : reader.matrixNames()) {
        const bool ofCurves = engine::isDrawnAsCurves(name);
        if (isOfReports(name) || (!ofCurves && wanted == Matrices::OfCurves)) {
            continue;
        }
        const std::vector<std::int64_t> steps = stepsOf(reader, name, after);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const bool kept = ofCurves || i % stride == 0 || i + 1 == steps.size();
            auto matrix = kept ? reader.matrix(name, steps[i]) : Result<engine::Matrix>(Error{});
            if (matrix) {
                matrices.push_back(std::move(*matrix));
            }
        }
    }
    return matrices;
}

} // namespace

RunMark RunRecord::mark() const
{
    RunMark mark = since;
    if (!numbers.steps.empty()) {
        mark.step = numbers.steps.back().step;
    }
    for (const engine::Matrix& matrix : numbers.matrices) {
        mark.matrixStep = std::max(mark.matrixStep, matrix.step);
    }
    return mark;
}

Result<RunRecord> loadRunRecord(const std::string& directory, Matrices matrices, const RunMark& since,
                                std::size_t matrixBytes)
{
    const auto reader = RESIDUA_TRY(engine::RunReader::open(directory));
    const auto info = RESIDUA_TRY(reader.info());
    auto project = RESIDUA_TRY(reader.project());
    RunRecord record;
    record.directory = directory;
    record.name = info.name;
    record.classes = info.classes;
    record.since = since;
    record.project = std::move(project);
    if (const auto cost = projects::costOf(record.project)) {
        record.flops = engine::spentFlopsOf(reader, record.project, *cost);
    }
    if (since == RunMark{}) {
        record.bounds = report::boundCurves(record.project, kBoundSteps);
    }
    record.numbers.steps = stepsOf(reader, since.step);
    for (const engine::RunEvent& event : reader.events()) {
        record.lastCheckpoint = event.kind == engine::RunEventKind::Checkpoint ? event.step : record.lastCheckpoint;
    }
    record.numbers.stages = engine::stageRecords(reader);
    for (const std::string& name : reader.metricNames()) {
        for (const auto& [step, value] :
             isOfSteps(name) ? std::vector<engine::MetricPoint>() : reader.metric(name, since.step)) {
            record.numbers.rows.push_back({name, step, value});
        }
    }
    record.matrices = matrices;
    record.numbers.matrices = matricesOf(reader, since.matrixStep, matrices, std::max<std::size_t>(matrixBytes, 1));
    record.faults = reader.faults();
    return record;
}

std::optional<projects::LowRankMethod> startOfFactors(const projects::Project& project)
{
    const bool factors = !std::holds_alternative<projects::FullRank>(project.network.rank) ||
                         std::ranges::any_of(project.network.blocks, [](const projects::Block& block) {
                             return std::ranges::any_of(block.graph.nodes, projects::hasOwnRank);
                         });
    return factors ? std::optional(project.initialisation.lowRank) : std::nullopt;
}

} // namespace residua::app
