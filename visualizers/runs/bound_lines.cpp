// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/runs/bound_lines.h"

#include <cmath>
#include <utility>

namespace residua::visualizers {
namespace {

constexpr double kAlpha = 0.75;
constexpr double kWidth = 1.3;

} // namespace

void BoundLines::show(const std::vector<Bounded>& runs)
{
    std::vector<std::pair<CurvePlot::Look, std::size_t>> wanted;
    for (const Bounded& run : runs) {
        wanted.emplace_back(run.look, run.bounds.size());
    }
    if (wanted == m_shown) {
        return;
    }
    m_shown = std::move(wanted);
    for (const Line& line : m_lines) {
        m_plot.remove(line.id);
    }
    m_lines.clear();
    m_claims.clear();
    m_caveats.clear();
    for (const Bounded& run : runs) {
        for (const ShownRuns::Bound& bound : run.bounds) {
            Line& line = m_lines.emplace_back();
            for (const engine::MetricPoint& point : bound.points) {
                if (std::isfinite(point.value)) {
                    line.curve.append(static_cast<double>(point.step), point.value);
                }
            }
            CurvePlot::Look look = run.look;
            look.number = look.reading = bound.name;
            look.alpha = kAlpha;
            look.width = kWidth;
            look.line = Qt::DashDotLine;
            look.fits = false;
            line.id = m_plot.add(line.curve, look);
            const QString claim = bound.name + QStringLiteral(": ") + bound.claim;
            if (!m_claims.contains(claim)) {
                m_claims << claim;
            }
            if (!bound.caveat.isEmpty() && !m_caveats.contains(bound.caveat)) {
                m_caveats << bound.caveat;
            }
        }
    }
}

} // namespace residua::visualizers
