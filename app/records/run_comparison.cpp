// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/records/run_comparison.h"

#include "app/records/run_loader.h"
#include "engine/base/api/matrix_name.h"
#include "engine/runs/results/run_reader.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace residua::app {

namespace {

struct Opened {
    engine::RunReader reader;
    engine::RunInfo info;
    projects::Project project;
};

Result<Opened> openRun(const std::string& directory)
{
    auto reader = RESIDUA_TRY(engine::RunReader::open(directory));
    auto info = RESIDUA_TRY(reader.info());
    auto project = RESIDUA_TRY(reader.project());
    return Opened{std::move(reader), std::move(info), std::move(project)};
}

/// Adds the differences of the last matrices with one name, for shortcuts that both have.
void addCoefficients(const engine::MatrixName& name, const Opened& a, const Opened& b,
                     std::vector<CoefficientChange>& changes)
{
    const auto stepsA = a.reader.matrixSteps(name);
    const auto stepsB = b.reader.matrixSteps(name);
    if (stepsA.empty() || stepsB.empty()) {
        return;
    }
    const auto first = a.reader.matrix(name, stepsA.back());
    const auto second = b.reader.matrix(name, stepsB.back());
    if (!first || !second) {
        return;
    }
    for (std::int64_t row = 0; row < std::min(first->rows, second->rows); ++row) {
        for (std::int64_t column = 0; column < std::min(first->columns, second->columns); ++column) {
            const float x = first->at(row, column);
            const float y = second->at(row, column);
            if (std::isfinite(x) && std::isfinite(y)) {
                changes.push_back({name, column, row + 1, x, y});
            }
        }
    }
}

} // namespace

Result<RunComparison> compareRuns(const std::string& first, const std::string& second)
{
    const auto a = RESIDUA_TRY(openRun(first));
    const auto b = RESIDUA_TRY(openRun(second));
    RunComparison comparison{a.info, b.info, projects::diff(a.project, b.project), {}, {}, {}};
    const auto isTopology = [](const projects::Change& change) {
        return change.part == projects::ChangedPart::Topology || change.part == projects::ChangedPart::Preset;
    };
    std::stable_partition(comparison.changes.begin(), comparison.changes.end(), isTopology);
    for (const engine::MatrixName& name : a.reader.matrixNames()) {
        if (name.kind == engine::matrix::kMix) {
            addCoefficients(name, a, b, comparison.coefficients);
        }
    }
    std::stable_sort(comparison.coefficients.begin(), comparison.coefficients.end(), [](const auto& x, const auto& y) {
        return std::abs(x.second - x.first) > std::abs(y.second - y.first);
    });
    auto x = RESIDUA_TRY(loadRunRecord(first, Matrices::OfCurves));
    auto y = RESIDUA_TRY(loadRunRecord(second, Matrices::OfCurves));
    comparison.firstSteps = std::move(x.numbers.steps);
    comparison.secondSteps = std::move(y.numbers.steps);
    return comparison;
}

std::vector<LossPair> lossesBeside(const RunComparison& comparison, std::size_t count)
{
    std::vector<LossPair> common;
    auto other = comparison.secondSteps.begin();
    for (const engine::StepRecord& record : comparison.firstSteps) {
        other = std::lower_bound(other, comparison.secondSteps.end(), record.step,
                                 [](const engine::StepRecord& each, std::int64_t step) { return each.step < step; });
        if (other != comparison.secondSteps.end() && other->step == record.step) {
            common.push_back({record.step, record.loss, other->loss});
        }
    }
    if (common.size() <= count || count < 2) {
        return common;
    }
    std::vector<LossPair> spread;
    for (std::size_t i = 0; i < count; ++i) {
        spread.push_back(common[i * (common.size() - 1) / (count - 1)]);
    }
    return spread;
}

} // namespace residua::app
