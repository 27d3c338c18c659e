// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/records/run_costs.h"

#include "app/engine/background.h"
#include "app/records/runs_model.h"
#include "engine/runs/results/run_groups.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/spent_flops.h"
#include "projects/cost/cost.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace residua::app {

namespace {

constexpr int kSoonMilliseconds = 500;

double lastOf(const engine::RunReader& reader, const char* name)
{
    const auto points = reader.metric(name);
    return points.empty() ? 0.0 : points.back().value;
}

/// Sets what the list of runs knows about the run.
void rate(visualizers::ParetoRun& point, const engine::RunInfo& run)
{
    point.key = QString::fromStdString(run.directory);
    point.name = QString::fromStdString(engine::nameOf(run));
    // The loss of a run that later diverged is not a result.
    const bool counts = run.step > 0 && run.status != engine::RunStatus::Failed;
    point.judge = run.judge();
    const std::string quantity(point.judge.quantity);
    point.loss = counts ? run.last(quantity + "/train") : std::numeric_limits<double>::quiet_NaN();
    point.validationLoss = counts ? run.last(quantity + "/validation") : point.loss;
    point.standing = engine::finalValue(run) ? visualizers::ParetoStanding::Result : visualizers::ParetoStanding::SoFar;
    point.status = QString::fromStdString(engine::textOf(run.status));
}

/// True if the points are drawn the same. Missing numbers (NaN) are the same.
bool isSame(const visualizers::ParetoRun& a, const visualizers::ParetoRun& b)
{
    const auto comparable = [](visualizers::ParetoRun run) {
        for (double* number :
             {&run.parameters, &run.flops, &run.seconds, &run.loss, &run.validationLoss, &run.lastLoss}) {
            *number = std::isnan(*number) ? std::numeric_limits<double>::infinity() : *number;
        }
        return run;
    };
    return comparable(a) == comparable(b);
}

/// Reads parameters and FLOP of a pass of the trained project, and FLOP and time so far. Blocks; any thread.
visualizers::ParetoRun costsOf(const engine::RunInfo& run)
{
    visualizers::ParetoRun point;
    const auto reader = engine::RunReader::open(run.directory);
    const auto project = reader ? reader->project() : Result<projects::Project>(reader.error());
    const auto cost = project ? projects::costOf(*project) : Result<projects::CostReport>(project.error());
    if (cost) {
        point.parameters = static_cast<double>(cost->total.parameters);
        point.passFlops = cost->total.forwardFlops;
        const engine::SpentFlops spent = engine::spentFlopsOf(*reader, *project, *cost);
        point.flops = spent.at(static_cast<double>(run.step), lastOf(*reader, engine::metric::kUnits));
        point.isCostWhole = spent.isWhole;
        point.seconds = lastOf(*reader, engine::metric::kSeconds);
    }
    const auto last = engine::lastTrainingLoss(run.directory, engine::lastSteps(run.steps));
    point.lastLoss = last.value_or(std::numeric_limits<double>::quiet_NaN());
    return point;
}

} // namespace

RunCosts::RunCosts(const RunsModel& runs, QObject* parent) : QObject(parent), m_runs(runs)
{
    m_soon.setSingleShot(true);
    m_soon.setInterval(kSoonMilliseconds);
    connect(&m_soon, &QTimer::timeout, this, &RunCosts::read);
    connect(&runs, &RunsModel::listed, this, &RunCosts::tell); // a run may have ended, or been validated
    connect(&runs, &RunsModel::modelReset, this, &RunCosts::readSoon);
    connect(&runs, &RunsModel::dataChanged, this, &RunCosts::readSoon);
}

void RunCosts::readSoon()
{
    if (!m_soon.isActive()) {
        m_soon.start();
    }
}

void RunCosts::read()
{
    if (m_reading) {
        m_soon.start();
        return;
    }
    std::vector<engine::RunInfo> grown;
    for (const engine::RunInfo& run : m_runs.runs()) {
        const auto known = m_known.find(run.directory);
        if (known == m_known.end() || known->second.step != run.step || known->second.status != run.status) {
            grown.push_back(run);
        }
    }
    if (grown.empty() && m_known.size() == m_runs.runs().size()) {
        return;
    }
    m_reading = true;
    const auto readAll = [grown] {
        std::map<std::string, Known> made;
        for (const engine::RunInfo& run : grown) {
            made[run.directory] = {run.step, run.status, costsOf(run)};
        }
        return made;
    };
    inBackground(this, readAll, [this](std::map<std::string, Known> made) {
        m_reading = false;
        made.merge(m_known);
        m_known.clear();
        for (const engine::RunInfo& run : m_runs.runs()) {
            if (auto known = made.extract(run.directory)) {
                m_known.insert(std::move(known));
            }
        }
        tell();
    });
}

void RunCosts::tell()
{
    std::vector<visualizers::ParetoRun> points;
    for (const engine::RunInfo& run : m_runs.runs()) {
        if (const auto found = m_known.find(run.directory); found != m_known.end()) {
            rate(points.emplace_back(found->second.costs), run);
        }
    }
    if (!std::ranges::equal(points, m_told, isSame)) {
        m_told = points;
        emit changed(points);
    }
}

} // namespace residua::app
