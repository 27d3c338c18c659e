// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/runs/bound_lines.h"

#include <cmath>
#include <utility>

namespace residua::visualizers {
namespace {

constexpr double kAlpha = 0.75;

} // namespace

void BoundLines::show(const std::vector<const ShownRuns::Run*>& runs, resources::Theme theme)
{
    std::vector<std::pair<std::string, std::size_t>> wanted;
    for (const ShownRuns::Run* run : runs) {
        wanted.emplace_back(run->key, run->facts.bounds.size());
    }
    if (wanted == m_shown && theme == m_theme) {
        return;
    }
    m_shown = std::move(wanted);
    m_theme = theme;
    for (const Line& line : m_lines) {
        m_plot.remove(line.id);
    }
    m_lines.clear();
    m_claims.clear();
    m_caveats.clear();
    for (const ShownRuns::Run* run : runs) {
        for (const ShownRuns::Bound& bound : run->facts.bounds) {
            Line& line = m_lines.emplace_back();
            for (const engine::MetricPoint& point : bound.points) {
                if (std::isfinite(point.value)) {
                    line.curve.append(static_cast<double>(point.step), point.value);
                }
            }
            line.id = m_plot.add(line.curve, {.name = bound.name,
                                              .run = run->facts.name,
                                              .reading = bound.name,
                                              .colour = resources::curveColour(run->colour, theme),
                                              .alpha = kAlpha,
                                              .width = 1.3,
                                              .line = Qt::DashDotLine,
                                              .fits = false});
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
