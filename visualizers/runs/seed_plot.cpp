// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/runs/seed_plot.h"

#include "visualizers/plot/series.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <set>
#include <utility>

namespace residua::visualizers {
namespace {

constexpr double kBandAlpha = 0.22;
constexpr double kMeanWidth = 2;

} // namespace

void SeedPlot::draw(Drawn& drawn) const
{
    drawn.low = m_plot.add(drawn.band.low(), {});
    drawn.high = m_plot.add(drawn.band.high(), {});
    drawn.mean = m_plot.add(drawn.band.mean(), {});
    drawn.shown = &drawn.band.mean();
}

void SeedPlot::undraw(Drawn& drawn) const
{
    if (std::exchange(drawn.shown, nullptr)) {
        m_plot.remove(drawn.high);
        m_plot.remove(drawn.low);
        m_plot.remove(drawn.mean);
    }
}

void SeedPlot::show(const std::vector<Study>& studies, const std::vector<Number>& numbers, XAxis axis, double window,
                    resources::Theme theme)
{
    std::set<Key> kept;
    for (const Study& study : studies) {
        for (const Number& number : numbers) {
            const Key key{study.key, number.metric};
            kept.insert(key);
            Drawn& drawn = m_drawn[key];
            std::vector<const Series*> runs;
            std::ranges::transform(study.curves, std::back_inserter(runs),
                                   [&](const RunCurves* curves) { return &curves->at(number.metric); });
            drawn.band.setAxis(axis, study.flopPerUnit);
            drawn.band.setWindow(number.marks ? 1 : window);
            drawn.band.follow(runs);
            if (drawn.shown != &drawn.band.mean()) { // smoothing was switched on or off
                undraw(drawn);
                draw(drawn);
            }
            CurvePlot::Look look{.group = QString::fromStdString(study.key), .place = study.place};
            look.colour = resources::curveColour(study.colour, theme);
            CurvePlot::Look area = look;
            area.alpha = kBandAlpha;
            area.fillTo = drawn.low;
            CurvePlot::Look edge = look;
            edge.alpha = 0;
            look.name =
                QCoreApplication::translate("SeedPlot", "%1, %n seeds", nullptr, static_cast<int>(drawn.band.runs()))
                    .arg(commonName(study.names));
            look.number = number.title;
            look.reading = QCoreApplication::translate("SeedPlot", "mean %1").arg(number.title);
            look.width = kMeanWidth;
            look.marks = number.marks;
            look.line = number.line;
            m_plot.setLook(drawn.low, edge);
            m_plot.setLook(drawn.high, area);
            m_plot.setLook(drawn.mean, look);
        }
    }
    for (auto drawn = m_drawn.begin(); drawn != m_drawn.end();) {
        if (kept.contains(drawn->first)) {
            ++drawn;
        } else {
            undraw(drawn->second);
            drawn = m_drawn.erase(drawn);
        }
    }
}

} // namespace residua::visualizers
