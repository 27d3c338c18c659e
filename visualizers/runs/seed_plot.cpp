// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/runs/seed_plot.h"

#include "visualizers/plot/series.h"

#include <QCoreApplication>

#include <algorithm>
#include <iterator>
#include <set>

namespace residua::visualizers {
namespace {

constexpr double kBandAlpha = 0.22;
constexpr double kMeanWidth = 2;

} // namespace

void SeedPlot::addTo(resources::PlotSpec& spec, const std::vector<Study>& studies, const std::vector<Number>& numbers,
                     XAxis axis, double window)
{
    std::set<Key> kept;
    for (const Study& study : studies) {
        for (const Number& number : numbers) {
            SeedBand& band = m_bands[*kept.emplace(study.key, number.metric).first];
            std::vector<const Series*> runs;
            std::ranges::transform(study.curves, std::back_inserter(runs),
                                   [&](const RunCurves* curves) { return &curves->at(number.metric); });
            band.setAxis(axis, study.flopPerUnit);
            band.setWindow(number.marks ? 1 : window);
            band.follow(runs);
            resources::PlotCurve edge{.colour = study.colour, .live = &band.low(), .group = study.key};
            edge.place = study.place;
            resources::PlotCurve area = edge;
            area.live = &band.high();
            area.alpha = kBandAlpha;
            area.fillTo = spec.curves.size();
            resources::PlotCurve mean = edge;
            mean.live = &band.mean();
            edge.alpha = 0;
            mean.name = QCoreApplication::translate("SeedPlot", "%1, %n seeds", nullptr, static_cast<int>(band.runs()))
                            .arg(commonName(study.names))
                            .toStdString();
            mean.number = number.title;
            mean.reading = QCoreApplication::translate("SeedPlot", "mean %1")
                               .arg(QString::fromStdString(number.title))
                               .toStdString();
            mean.width = kMeanWidth;
            mean.marks = number.marks;
            mean.stroke = number.stroke;
            spec.curves.insert(spec.curves.end(), {edge, area, mean});
        }
    }
    std::erase_if(m_bands, [&](const auto& band) { return !kept.contains(band.first); });
}

} // namespace residua::visualizers
