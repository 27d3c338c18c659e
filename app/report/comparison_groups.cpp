// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/comparison_page.h"

#include "app/report/html_text.h"
#include "engine/runs/results/run_reader.h"
#include "projects/base/ranges.h"
#include "projects/base/text.h"
#include "projects/studies/sweep_grid.h"
#include "resources/axis.h"

#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <ranges>
#include <set>
#include <utility>

namespace residua::report {
namespace {

using resources::shortNumber;

/// Returns the stroke of a group's colour number: solid for the first kPageColours, then two kinds of dashes.
Stroke strokeOf(std::size_t colour)
{
    static constexpr Stroke kStrokes[] = {Stroke::Solid, Stroke::Dashed, Stroke::Dotted};
    return kStrokes[colour / kPageColours % std::size(kStrokes)];
}

} // namespace

PlotCurve curveOf(const std::string& name, std::size_t colour, resources::Curve points)
{
    return {name, std::move(points), strokeOf(colour), colour % kPageColours};
}

std::vector<engine::RunInfo> ComparisonPage::infos() const
{
    return mapped<std::vector<engine::RunInfo>>(m_runs, &ComparedRun::info);
}

std::vector<engine::TrainedRun> ComparisonPage::trained() const
{
    return mapped<std::vector<engine::TrainedRun>>(m_runs, [](const ComparedRun& run) {
        return engine::TrainedRun{&run.info, &run.project};
    });
}

void ComparisonPage::group()
{
    const std::vector<engine::TrainedRun> runs = trained();
    m_groups = engine::groupsOf(runs);
    if (m_asked.folder) {
        engine::keepColours(m_groups, runs, *m_asked.folder);
    }
    for (std::size_t run = 0; run < m_runs.size(); ++run) {
        m_runs[run].label = m_groups.labels[run];
    }
    std::vector<projects::CostAndValue> points;
    for (const engine::RunGroup& each : m_groups.groups) {
        const bool isWhole = std::ranges::all_of(each.runs, [&](std::size_t run) { return m_runs[run].isCostWhole; });
        const double none = std::numeric_limits<double>::quiet_NaN(); // is not on the front
        points.push_back({flopsOf(each), isWhole ? resultOf(each).mean : none});
    }
    m_front = projects::paretoFront(points, m_runs.front().info.judge());
}

projects::MeanOfSeveral ComparisonPage::resultOf(const engine::RunGroup& group) const
{
    std::vector<double> values;
    for (const std::size_t run : group.runs) {
        const std::optional<double> value = finalValue(m_runs[run].info);
        values.push_back(value.value_or(std::numeric_limits<double>::quiet_NaN()));
    }
    return projects::meanOf(values);
}

double ComparisonPage::flopsOf(const engine::RunGroup& group) const
{
    auto values = mapped<std::vector<double>>(group.runs | std::views::filter([&](const std::size_t run) {
                                                  return finalValue(m_runs[run].info).has_value();
                                              }),
                                              [&](const std::size_t run) { return m_runs[run].flops; });
    return projects::meanOf(values).mean;
}

bool ComparisonPage::sharesName(const engine::RunGroup& group) const
{
    auto seeds = mapped<std::set<std::string>>(group.runs, [&](const std::size_t run) { return m_groups.seeds[run]; });
    return group.runs.size() > 1 && seeds.size() == group.runs.size();
}

/// Returns the name of the run in legends: the group's for its first run that is drawn, and an empty one for the
/// others.
std::string ComparisonPage::nameOf(std::size_t run) const
{
    const engine::RunGroup& of = m_groups.groupOf(run);
    const auto first = std::ranges::find_if(of.runs, [this](std::size_t each) { return isDrawn(each); });
    return !sharesName(of) ? m_runs[run].label : first != of.runs.end() && *first == run ? of.label : std::string();
}

bool ComparisonPage::isDrawn(std::size_t run) const
{
    return !m_asked.hidden.contains(m_runs[run].info.directory) && !m_asked.hidden.contains(m_groups.groupOf(run).key);
}

void ComparisonPage::notDrawn()
{
    std::vector<std::string> names;
    for (std::size_t run = 0; run < m_runs.size(); ++run) {
        if (!isDrawn(run)) {
            names.push_back(m_runs[run].label);
        }
    }
    if (!names.empty()) {
        m_out << "<p class='sub'>Without curves, as the page was kept: " << escapeHtml(joinedText(names)) << "</p>";
    }
}

Status ComparisonPage::findBaseline()
{
    if (m_asked.baseline.empty()) {
        return Done{};
    }
    auto found = RESIDUA_TRY(engine::groupNamed(m_groups, trained(), m_asked.baseline, "--baseline"));
    const bool isWhole = m_asked.baselineIs == Comparison::Baseline::WholeGroup;
    m_baseline = isWhole ? m_groups.groupOf(found.runs.front()) : std::move(found);
    return Done{};
}

projects::SeededSeries ComparisonPage::lossesOf(const engine::RunGroup& group) const
{
    return engine::seededSeries(m_groups, group,
                                [this](std::size_t run) { return m_runs[run].metric(engine::metric::kLoss); });
}

/// Returns a dash in the colour of a group's curves.
std::string ComparisonPage::swatch(std::size_t colour)
{
    const std::string stroke = strokeOf(colour) == Stroke::Solid    ? "solid"
                               : strokeOf(colour) == Stroke::Dashed ? "dashed"
                                                                    : "dotted";
    return "<svg style='display:inline-block;width:22px;height:10px;margin-right:6px' viewBox='0 0 22 10'><line "
           "class='curve c" +
           std::to_string(colour % kPageColours) + " " + stroke + "' x1='0' x2='22' y1='5' y2='5'/></svg>";
}

/// The groups with means and deviations, if runs repeat a configuration.
void ComparisonPage::groupTable()
{
    if (!m_baseline && std::ranges::all_of(m_groups.groups, [](const auto& group) { return group.runs.size() == 1; })) {
        return;
    }
    const std::string quantity(m_runs.front().info.judge().quantity);
    m_out << "<div class='panel'><table><tr><th>group</th><th>runs</th><th>training FLOP</th><th>"
          << escapeHtml(quantity) << ", mean ± deviation (n)</th>";
    if (m_baseline) {
        m_out << "<th>less the baseline</th><th>training loss, last " << groupedText(m_lastSteps)
              << "</th><th>less the baseline</th>";
    }
    m_out << "<th>Pareto front</th></tr>";
    const auto cell = [this](const std::string& text) { m_out << "<td class='n'>" << escapeHtml(text) << "</td>"; };
    const std::vector<engine::TrainedRun> runs = trained();
    const auto valuesOf = [&](const engine::RunGroup& group) {
        return engine::valuesOf(m_groups, group, runs, m_lastSteps);
    };
    const engine::GroupValues base = m_baseline ? valuesOf(*m_baseline) : engine::GroupValues();
    for (std::size_t i = 0; i < m_groups.groups.size(); ++i) {
        const engine::RunGroup& group = m_groups.groups[i];
        const double flops = flopsOf(group);
        m_out << "<tr><td>" << swatch(group.colour) << escapeHtml(group.label) << "</td>";
        cell(std::to_string(group.runs.size()));
        cell(std::isfinite(flops) ? shortNumber(flops) : "–");
        cell(projects::textOf(resultOf(group)));
        if (m_baseline) {
            const bool isBaseline = m_baseline->runs == group.runs;
            const engine::GroupValues values = valuesOf(group);
            cell(isBaseline ? "baseline" : projects::textOf(projects::differenceOf(values.judged, base.judged)));
            cell(projects::textOf(projects::meanOf(values.training)));
            cell(isBaseline ? "baseline" : projects::textOf(projects::differenceOf(values.training, base.training)));
        }
        m_out << "<td>" << (onFront(i) ? "★" : "") << "</td></tr>";
    }
    m_out << "</table>";
    if (m_baseline) {
        m_out << "<p class='sub'>Baseline: " << escapeHtml(m_baseline->label)
              << ". ± of a difference is the half width of its " << percentText(projects::kConfidence)
              << " interval, over pairs of equal seeds.</p>";
    }
    m_out << "</div>";
}

/// Draws the mean difference of each group, and faintly the ends of its interval if it has one.
void ComparisonPage::lossDifferences()
{
    if (!m_baseline) {
        return;
    }
    PlotSpec spec{"Training loss less that of " + m_baseline->label, "step", "difference", {}};
    const projects::SeededSeries base = lossesOf(*m_baseline);
    for (const engine::RunGroup& group : m_groups.groups) {
        const auto drawn = [this](std::size_t run) { return isDrawn(run); };
        if (group.runs == m_baseline->runs || std::ranges::none_of(group.runs, drawn)) {
            continue;
        }
        resources::Curve mean;
        resources::Curve low;
        resources::Curve high;
        for (const auto& [step, difference] : projects::differencesByStep(lossesOf(group), base)) {
            const auto x = static_cast<double>(step);
            mean.append(x, difference.mean);
            if (std::isfinite(difference.halfWidth)) {
                low.append(x, difference.low());
                high.append(x, difference.high());
            }
        }
        for (resources::Curve* const end : {&low, &high}) {
            PlotCurve& curve = spec.curves.emplace_back(curveOf({}, group.colour, std::move(*end)));
            curve.stroke = Stroke::Faint;
        }
        spec.curves.push_back(curveOf(group.label, group.colour, std::move(mean)));
    }
    draw(std::move(spec));
}

void ComparisonPage::note(std::size_t colour, const std::string& label, const std::string& markdown)
{
    m_out << "<div class='panel'><b>" << swatch(colour) << escapeHtml(label) << "</b>" << htmlMarkdown(markdown)
          << "</div>";
}

void ComparisonPage::notes()
{
    const auto kept = m_asked.folder ? engine::groupNotes(*m_asked.folder) : std::map<std::string, std::string>();
    for (const engine::RunGroup& group : m_groups.groups) {
        if (const auto found = kept.find(group.key); found != kept.end()) {
            note(group.colour, group.label, found->second);
        }
        for (const std::size_t run : group.runs) {
            if (!m_runs[run].info.notes.empty()) {
                note(group.colour, m_runs[run].label, m_runs[run].info.notes);
            }
        }
    }
}

} // namespace residua::report
