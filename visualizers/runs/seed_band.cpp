// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/runs/seed_band.h"

#include "projects/studies/paired_difference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace residua::visualizers {
namespace {

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

double stepAt(const Series& run, std::size_t point)
{
    return run.raw().positions(0)[point];
}

} // namespace

void SeedBand::setAxis(XAxis axis, double flopPerUnit)
{
    m_axis = axis;
    m_flopPerUnit = flopPerUnit;
    for (Series* series : {&m_mean, &m_low, &m_high}) {
        series->setAxis(axis, flopPerUnit);
    }
}

void SeedBand::setWindow(double points)
{
    m_window = points;
    for (Series* series : {&m_mean, &m_low, &m_high}) {
        series->setWindow(points);
        series->catchUp(kAll);
    }
}

/// True if the points averaged so far still belong to these runs. A resumed run may have removed some.
bool SeedBand::goesOn(const std::vector<const Series*>& runs) const
{
    if (runs != m_runs) {
        return false;
    }
    const double last = m_mean.raw().size() > 0 ? stepAt(m_mean, m_mean.raw().size() - 1) : 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const std::size_t taken = m_taken[i];
        if (taken > runs[i]->raw().size() || (taken > 0 && stepAt(*runs[i], taken - 1) > last)) {
            return false;
        }
    }
    return true;
}

void SeedBand::follow(const std::vector<const Series*>& only, const std::vector<const Series*>& less)
{
    std::vector<const Series*> runs = only;
    runs.insert(runs.end(), less.begin(), less.end());
    if (!goesOn(runs) || only.size() != m_count) {
        m_count = only.size();
        m_spread = m_count < 2 ? 0 : less.empty() ? 1 : projects::intervalFactor(m_count);
        m_runs = runs;
        m_taken.assign(runs.size(), 0);
        for (Series* series : {&m_mean, &m_low, &m_high}) {
            *series = Series();
        }
        setAxis(m_axis, m_flopPerUnit);
        setWindow(m_window);
    }
    grow();
    setWindow(m_window);
}

void SeedBand::grow()
{
    std::vector<std::size_t> at = m_taken;
    const auto left = [&](std::size_t run) { return at[run] < m_runs[run]->raw().size(); };
    for (;;) {
        double step = 0;
        for (std::size_t run = 0; run < m_runs.size(); ++run) {
            if (!left(run)) {
                return;
            }
            step = std::max(step, stepAt(*m_runs[run], at[run]));
        }
        bool common = true;
        for (std::size_t run = 0; run < m_runs.size(); ++run) {
            at[run] = std::max(at[run], m_runs[run]->raw().indexOf(step));
            if (!left(run)) {
                return;
            }
            common = common && stepAt(*m_runs[run], at[run]) == step;
        }
        if (!common) {
            continue; // tries the next step that all runs may share
        }
        add(at);
        for (std::size_t& each : at) {
            ++each;
        }
        m_taken = at;
    }
}

void SeedBand::add(const std::vector<std::size_t>& points)
{
    const bool relative = m_runs.size() > m_count;
    std::vector<double> values;
    double sum = 0;
    for (std::size_t run = 0; run < m_count; ++run) {
        const std::size_t partner = run + m_count;
        values.push_back(m_runs[run]->raw().values()[points[run]] -
                         (relative ? m_runs[partner]->raw().values()[points[partner]] : 0));
        sum += values.back();
    }
    const auto count = static_cast<double>(m_count);
    const double mean = sum / count;
    double squares = 0;
    for (const double value : values) {
        squares += std::pow(value - mean, 2);
    }
    const double half = m_spread > 0 ? m_spread * std::sqrt(squares / (count - 1)) : 0;
    const Series::Positions at = m_runs.front()->positionsOf(stepAt(*m_runs.front(), points.front()));
    m_mean.append(at, mean);
    m_low.append(at, mean - half);
    m_high.append(at, mean + half);
}

} // namespace residua::visualizers
