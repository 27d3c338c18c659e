// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/loss_curve.h"

#include <algorithm>
#include <cmath>

namespace residua::visualizers {
namespace {

// Drops what `records` holds from the first step of `fresh` on, then appends.
template <class Record>
std::size_t splice(std::vector<Record>& records, const std::vector<Record>& fresh)
{
    if (fresh.empty()) {
        return records.size();
    }
    const auto cut = std::lower_bound(records.begin(), records.end(), fresh.front().step,
                                      [](const Record& record, std::int64_t step) { return record.step < step; });
    records.erase(cut, records.end());
    const std::size_t first = records.size();
    records.insert(records.end(), fresh.begin(), fresh.end());
    return first;
}

} // namespace

std::size_t LossCurve::append(const std::vector<engine::StepRecord>& steps,
                              const std::vector<engine::ValidationRecord>& validations)
{
    if (!steps.empty()) {
        const auto stale = std::lower_bound(m_validations.begin(), m_validations.end(), steps.front().step,
                                            [](const auto& record, std::int64_t step) { return record.step < step; });
        m_validations.erase(stale, m_validations.end());
    }
    splice(m_validations, validations);
    const std::size_t first = splice(m_steps, steps);
    m_averages.resize(std::min(m_averages.size(), first));
    extendAverages();
    return first;
}

double LossCurve::xFrom(const engine::StepRecord& record, XAxis axis) const
{
    switch (axis) {
    case XAxis::Step:
        return static_cast<double>(record.step);
    case XAxis::Units:
        return static_cast<double>(record.tokens);
    case XAxis::Flop:
        return static_cast<double>(record.tokens) * m_flopPerUnit;
    case XAxis::Seconds:
        return record.seconds;
    }
    return 0;
}

std::vector<LossCurve::Point> LossCurve::raw(XAxis axis, std::size_t from) const
{
    std::vector<Point> points;
    points.reserve(m_steps.size() - std::min(from, m_steps.size()));
    for (std::size_t i = from; i < m_steps.size(); ++i) {
        points.push_back({xFrom(m_steps[i], axis), m_steps[i].loss});
    }
    return points;
}

std::vector<LossCurve::Point> LossCurve::smoothed(XAxis axis, std::size_t from) const
{
    std::vector<Point> points;
    points.reserve(m_steps.size() - std::min(from, m_steps.size()));
    for (std::size_t i = from; i < m_steps.size(); ++i) {
        if (m_averages[i].weight > 0) {
            points.push_back({xFrom(m_steps[i], axis), m_averages[i].mean / m_averages[i].weight});
        }
    }
    return points;
}

void LossCurve::setWindow(double steps)
{
    m_window = std::max(steps, 1.0);
    m_averages.clear();
    extendAverages();
}

void LossCurve::extendAverages()
{
    const double keep = 1.0 - 1.0 / m_window;
    for (std::size_t i = m_averages.size(); i < m_steps.size(); ++i) {
        Average average = m_averages.empty() ? Average{} : m_averages.back();
        if (std::isfinite(m_steps[i].loss)) {
            average.mean = keep * average.mean + (1 - keep) * m_steps[i].loss;
            average.weight = keep * average.weight + (1 - keep);
        }
        m_averages.push_back(average);
    }
}

std::vector<LossCurve::Point> LossCurve::validation(XAxis axis) const
{
    std::vector<Point> points;
    points.reserve(m_validations.size());
    for (const auto& record : m_validations) {
        points.push_back({xOf(record.step, axis), record.loss});
    }
    return points;
}

double LossCurve::xOf(std::int64_t step, XAxis axis) const
{
    if (axis == XAxis::Step) {
        return static_cast<double>(step);
    }
    const auto after = std::upper_bound(m_steps.begin(), m_steps.end(), step,
                                        [](std::int64_t value, const auto& record) { return value < record.step; });
    return after == m_steps.begin() ? 0.0 : xFrom(*std::prev(after), axis);
}

} // namespace residua::visualizers
