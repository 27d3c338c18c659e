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

RunRows::RunRows(QString lead, const Series& series, const Series* beside)
    : m_lead(std::move(lead)),
      m_points(series.raw()),
      m_beside(beside ? std::optional<Points>(beside->raw()) : std::nullopt),
      m_window(series.window())
{
}

void RunRows::write(QTextStream& out) const
{
    out.setRealNumberPrecision(kDigits);
    MovingAverage average(m_window);
    constexpr double kNoMore = std::numeric_limits<double>::infinity();
    const auto stepAt = [](const Points& points, std::size_t i) {
        return i < points.steps.size() ? points.steps[i] : kNoMore;
    };
    std::size_t point = 0;
    std::size_t beside = 0;
    for (;;) {
        const double step = stepAt(m_points, point);
        const double stepBeside = m_beside ? stepAt(*m_beside, beside) : kNoMore;
        if (step == kNoMore && stepBeside == kNoMore) {
            return;
        }
        (step <= stepBeside) ? m_points.start(out, m_lead, point) : m_beside->start(out, m_lead, beside);
        if (step <= stepBeside) {
            const double value = m_points.values[point++];
            const auto mean = average.add(value);
            out << value << ',' << (m_window > 1 && mean ? QString::number(*mean, 'g', kDigits) : QString());
        } else {
            out << ',';
        }
        if (m_beside) {
            out << ',' << (stepBeside <= step ? QString::number(m_beside->values[beside++], 'g', kDigits) : QString());
        }
        out << '\n';
    }
}

} // namespace residua::visualizers
