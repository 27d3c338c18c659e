// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/runs/run_curves.h"

#include "engine/base/api/values.h"

namespace residua::visualizers {

RunCurves::RunCurves(Fields fields) : m_fields(std::move(fields)), m_clock(&series(m_fields.front().first)) {}

Series& RunCurves::series(const CurveName& name)
{
    const auto [found, fresh] = m_series.try_emplace(name);
    if (fresh) {
        found->second.setWindow(m_window);
        setAxisOf(found->second);
    }
    return found->second;
}

std::vector<CurveName> RunCurves::columnsOf(const CurveRow& row) const
{
    std::vector<CurveName> names;
    for (auto found = m_series.lower_bound(ColumnCurve(row, 0)); found != m_series.end(); ++found) {
        const auto* const curve = std::get_if<ColumnCurve>(&found->first);
        if (curve == nullptr || curve->row != row) {
            break;
        }
        names.push_back(found->first);
    }
    return names;
}

void RunCurves::append(const std::vector<engine::StepRecord>& steps)
{
    if (steps.empty()) {
        return;
    }
    for (auto& [name, series] : m_series) {
        series.cut(static_cast<double>(steps.front().step));
    }
    std::vector<Series::Positions> positions;
    positions.reserve(steps.size());
    for (const engine::StepRecord& record : steps) {
        const auto step = static_cast<double>(record.step);
        const auto units = static_cast<double>(record.tokens);
        const auto acted = m_world ? static_cast<double>(projects::environmentStepsAt(*m_world, record.step)) : 0.0;
        positions.push_back({step, units, record.seconds, m_flops.at(step, units) / m_flops.perUnit, acted});
    }
    for (const auto& [name, field] : m_fields) {
        Series& curve = series(name);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            curve.append(positions[i], steps[i].*field);
        }
    }
}

void RunCurves::append(const CurveName& name, const std::vector<engine::MetricPoint>& points)
{
    Series& curve = series(name);
    for (const engine::MetricPoint& point : points) {
        curve.append(m_clock->positionsOf(static_cast<double>(point.step)), point.value);
    }
}

void RunCurves::append(const engine::Progress& numbers)
{
    append(numbers.steps);
    std::map<std::string, std::vector<engine::MetricPoint>> metrics;
    for (const auto& [name, step, value] : numbers.rows) {
        metrics[name].push_back({step, value});
    }
    for (const auto& [name, points] : metrics) {
        append(name, engine::shownPoints(name, points));
    }
}

double RunCurves::xOf(std::int64_t step) const
{
    const Series::Positions positions = m_clock->positionsOf(static_cast<double>(step));
    switch (m_axis) {
    case XAxis::Step:
        return positions[0];
    case XAxis::Units:
        return positions[1];
    case XAxis::Flop:
        return positions[3] * m_flops.perUnit;
    case XAxis::Seconds:
        return positions[2];
    case XAxis::EnvironmentSteps:
        return positions[4];
    }
    return 0;
}

void RunCurves::setAxis(XAxis axis)
{
    m_axis = axis;
    for (auto& [name, series] : m_series) {
        setAxisOf(series);
    }
}

void RunCurves::setFlops(engine::SpentFlops flops)
{
    m_flops = std::move(flops);
    setAxis(m_axis);
}

void RunCurves::setWindow(double points)
{
    m_window = points;
    for (auto& [name, series] : m_series) {
        series.setWindow(points);
    }
}

} // namespace residua::visualizers
