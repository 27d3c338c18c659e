// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/runs/run_csv.h"

#include <limits>
#include <utility>

namespace residua::visualizers {
namespace {

constexpr int kDigits = std::numeric_limits<double>::max_digits10;

} // namespace

RunRows::Points::Points(const Curve& curve)
    : steps(curve.positions(0)),
      x(curve.axis() > 0 ? curve.positions(curve.axis()) : std::vector<double>()),
      values(curve.values()),
      unit(curve.unit())
{
}

void RunRows::Points::start(QTextStream& out, const QString& lead, std::size_t index) const
{
    out << lead << ',' << steps[index] << ',';
    if (!x.empty()) {
        out << x[index] * unit << ',';
    }
}

RunRows::RunRows(QString lead, const Series& series, const std::vector<const Series*>& beside)
    : m_lead(std::move(lead)), m_points(series.raw()), m_window(series.window())
{
    for (const Series* each : beside) {
        m_beside.emplace_back(each->raw());
    }
}

void RunRows::write(QTextStream& out) const
{
    out.setRealNumberPrecision(kDigits);
    MovingAverage average(m_window);
    std::size_t point = 0;
    std::vector<std::size_t> next(m_beside.size(), 0);
    for (;;) {
        const Points* first = point < m_points.steps.size() ? &m_points : nullptr; // smallest next step
        std::size_t index = point;
        for (std::size_t i = 0; i < m_beside.size(); ++i) {
            const std::vector<double>& steps = m_beside[i].steps;
            if (next[i] < steps.size() && (!first || steps[next[i]] < first->steps[index])) {
                first = &m_beside[i];
                index = next[i];
            }
        }
        if (!first) {
            return;
        }
        const double step = first->steps[index];
        first->start(out, m_lead, index);
        if (first == &m_points) {
            const double value = m_points.values[point++];
            const auto mean = average.add(value);
            out << value << ',' << (m_window > 1 && mean ? QString::number(*mean, 'g', kDigits) : QString());
        } else {
            out << ',';
        }
        for (std::size_t i = 0; i < m_beside.size(); ++i) {
            const Points& beside = m_beside[i];
            const bool here = next[i] < beside.steps.size() && beside.steps[next[i]] == step;
            out << ',' << (here ? QString::number(beside.values[next[i]++], 'g', kDigits) : QString());
        }
        out << '\n';
    }
}

} // namespace residua::visualizers
