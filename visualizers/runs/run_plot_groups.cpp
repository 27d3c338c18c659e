// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of RunPlot for groups of runs: means over seeds, and differences from a baseline.
#include "visualizers/runs/run_plot.h"
#include "visualizers/runs/run_plot_controls.h"

#include <algorithm>
#include <utility>

namespace residua::visualizers {
namespace {

constexpr double kBandAlpha = 0.22;
constexpr double kMeanWidth = 2;
constexpr double kMarkedWidth = 1.2; ///< of a number that is drawn as marks

} // namespace

RunPlot::Beside RunPlot::mainNumber() const
{
    return {std::get<std::string>(m_shown.number), m_shown.title, Stroke::Solid};
}

std::vector<RunPlot::Unit> RunPlot::units(bool grouped) const
{
    std::vector<Unit> units;
    for (const ShownRuns::Run& run : m_shownRuns.runs()) {
        if (!m_runs.contains(run.key) || byColumn() || m_shownRuns.isLeftOut(run.key)) {
            continue;
        }
        const std::string group = grouped ? m_shownRuns.groupOf(run.key) : std::string();
        const auto unit = std::ranges::find_if(
            units, [&](const Unit& each) { return !group.empty() && m_shownRuns.groupOf(each.front()->key) == group; });
        const bool joins = unit != units.end() && std::ranges::none_of(*unit, [&](const ShownRuns::Run* other) {
                               return drawsAlike(*other, run);
                           });
        (joins ? *unit : units.emplace_back()).push_back(&run);
    }
    return units;
}

std::string RunPlot::keyOf(const Unit& unit) const
{
    return unit.size() > 1 ? m_shownRuns.groupOf(unit.front()->key) : unit.front()->key;
}

QString RunPlot::nameOf(const Unit& unit) const
{
    const ShownRuns::Look* look = m_shownRuns.lookOf(unit.front()->key);
    return unit.size() > 1 && look ? tr("%1, %n seeds", nullptr, static_cast<int>(unit.size())).arg(look->groupLabel)
                                   : m_shownRuns.labelOf(unit.front()->key);
}

RunPlot::Unit RunPlot::baseline() const
{
    Unit runs;
    for (const Unit& unit : units(false)) {
        if (m_shownRuns.isOfBaseline(unit.front()->key)) {
            runs.push_back(unit.front());
        }
    }
    return runs;
}

std::vector<RunPlot::Unit> RunPlot::possibleBaselines() const
{
    std::vector<Unit> all = units(true);
    std::erase_if(all, [this](const Unit& unit) { return !m_shownRuns.lookOf(unit.front()->key); }); // of unknown seeds
    return all;
}

void RunPlot::offerBaselines()
{
    QStringList names;
    int shown = -1;
    for (const Unit& unit : possibleBaselines()) {
        if (shown < 0 &&
            std::ranges::any_of(unit, [this](const auto* run) { return m_shownRuns.isOfBaseline(run->key); })) {
            shown = static_cast<int>(names.size());
            names << m_shownRuns.baselineLabel();
        } else {
            const ShownRuns::Look* look = m_shownRuns.lookOf(unit.front()->key);
            names << (unit.size() > 1 && look ? look->groupLabel : m_shownRuns.labelOf(unit.front()->key));
        }
    }
    m_controls->offerBaselines(names, shown);
}

void RunPlot::chooseBaseline(int index)
{
    const std::vector<Unit> all = possibleBaselines();
    const bool known = index >= 0 && index < static_cast<int>(all.size());
    m_shownRuns.setBaseline(known ? keyOf(all[static_cast<std::size_t>(index)]) : std::string());
}

bool RunPlot::drawsAlike(const ShownRuns::Run& a, const ShownRuns::Run& b) const
{
    const ShownRuns::Look* left = m_shownRuns.lookOf(a.key);
    const ShownRuns::Look* right = m_shownRuns.lookOf(b.key);
    return a.key == b.key || (left && right && left->seeds == right->seeds);
}

const ShownRuns::Run& RunPlot::partnerOf(const ShownRuns::Run& run, const Unit& baseline) const
{
    const auto found = std::ranges::find_if(baseline, [&](const auto* other) { return drawsAlike(run, *other); });
    return found == baseline.end() ? *baseline.front() : **found;
}

bool RunPlot::isPaired(const Unit& unit, const Unit& baseline) const
{
    return std::ranges::all_of(unit, [&](const auto* run) { return drawsAlike(*run, partnerOf(*run, baseline)); });
}

/// Says on the figure which runs have no run of equal seeds to be compared with.
void RunPlot::noteUnpaired(PlotSpec& spec) const
{
    const Unit base = baseline();
    QStringList names;
    for (const Unit& unit : units(false)) {
        if (!isPaired(unit, base)) {
            names << nameOf(unit);
        }
    }
    if (!names.isEmpty()) {
        spec.note =
            tr("Other seeds than the baseline, so no pairs: %1.").arg(names.join(QStringLiteral("; "))).toStdString();
    }
}

std::set<RunPlot::BandKey> RunPlot::addMeans(PlotSpec& spec)
{
    std::vector<Unit> all = units(true);
    m_controls->offerSeeds(std::ranges::any_of(all, [](const Unit& unit) { return unit.size() > 1; }));
    if (!m_controls->seedsAsBand()) {
        all = units(false);
    }
    if (baseline().empty()) {
        std::erase_if(all, [](const Unit& unit) { return unit.size() < 2; });
    }
    std::set<BandKey> added;
    for (const Unit& unit : all) {
        added.insert(addMean(spec, unit, mainNumber(), false));
        for (const Beside& beside : m_shown.beside) {
            added.insert(addMean(spec, unit, beside, true));
        }
    }
    return added;
}

/// Adds the mean of a number over the runs of a unit in a band of one standard deviation, or the mean of the
/// differences from the baseline in its interval.
RunPlot::BandKey RunPlot::addMean(PlotSpec& spec, const Unit& unit, const Beside& number, bool marks)
{
    const ShownRuns::Run& first = *unit.front();
    const Unit base = baseline();
    const BandKey key{keyOf(unit), number.metric};
    SeedBand& band = m_bands[key];
    std::vector<const Series*> series;
    std::vector<const Series*> less;
    for (const ShownRuns::Run* run : unit) {
        series.push_back(&m_runs.at(run->key).series(number.metric));
        if (!base.empty()) {
            less.push_back(&m_runs.at(partnerOf(*run, base).key).series(number.metric));
        }
    }
    band.setAxis(xAxis(), first.facts.flops.perUnit > 0 ? first.facts.flops.perUnit : 1);
    band.setWindow(marks ? 1 : m_controls->window());
    band.follow(series, less);
    PlotCurve mean = curveOf(first.key);
    mean.group = key.first;
    mean.name = nameOf(unit).toStdString();
    mean.number = number.title.toStdString();
    mean.reading = (unit.size() > 1 ? tr("mean %1").arg(number.title) : number.title).toStdString();
    mean.width = marks ? kMarkedWidth : kMeanWidth;
    mean.marks = marks;
    mean.stroke = number.stroke;
    mean.live = &band.mean();
    if (unit.size() > 1 && (base.empty() || isPaired(unit, base))) {
        PlotCurve low{.colour = mean.colour, .live = &band.low(), .group = mean.group, .place = mean.place};
        PlotCurve area = low;
        low.alpha = 0;
        area.live = &band.high();
        area.alpha = kBandAlpha;
        area.fillTo = spec.curves.size();
        spec.curves.insert(spec.curves.end(), {low, area});
    }
    spec.curves.push_back(std::move(mean));
    return key;
}

/// Returns the differences that the plot shows. Those with a band have its ends.
std::vector<RunRows> RunPlot::rowsOfDifferences() const
{
    const Unit base = baseline();
    const Series none;
    std::vector<RunRows> rows;
    for (const Unit& unit : units(m_controls->seedsAsBand())) {
        if (const auto band = m_bands.find({keyOf(unit), mainNumber().metric}); band != m_bands.end()) {
            const std::vector<const Series*> series = band->second.series();
            const bool hasBand = unit.size() > 1 && isPaired(unit, base);
            rows.emplace_back(csvQuoted(nameOf(unit)), *series[0],
                              hasBand ? std::vector{series[1], series[2]} : std::vector{&none, &none});
        }
    }
    return rows;
}

} // namespace residua::visualizers
