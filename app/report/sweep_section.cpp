// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/comparison_page.h"

#include "app/report/html_text.h"
#include "engine/runs/results/run_reader.h"
#include "projects/base/text.h"
#include "projects/studies/sweep_results.h"

#include <algorithm>
#include <limits>
#include <map>
#include <sstream>
#include <vector>

namespace residua::report {
namespace {

/// A sweep as its runs tell it: axes with the values that occur.
struct SweepOfRuns {
    projects::Sweep sweep;
    std::vector<projects::SweepResult> results;
    projects::Judge judge;
};

void add(SweepOfRuns& study, const engine::RunInfo& run)
{
    const std::vector<projects::AxisPoint>& point = run.membership->point;
    projects::SweepResult result;
    for (std::size_t i = 0; i < point.size(); ++i) {
        if (study.sweep.axes.size() <= i) {
            study.sweep.axes.push_back({point[i].field, point[i].axis, {}});
        }
        std::vector<projects::SweepValue>& values = study.sweep.axes[i].values;
        if (std::ranges::find(values, point[i].value, &projects::SweepValue::label) == values.end()) {
            values.push_back({point[i].value, {point[i].value}});
        }
        result.values.push_back(point[i].value);
    }
    result.value = run.status == engine::RunStatus::Finished ? engine::finalValue(run) : std::nullopt;
    study.results.push_back(std::move(result));
    study.judge = run.judge();
}

/// Returns the sweeps by name. Runs whose axes differ from those of the first run are left out.
std::map<std::string, SweepOfRuns> sweepsOf(std::span<const engine::RunInfo> runs)
{
    std::map<std::string, SweepOfRuns> studies;
    for (const engine::RunInfo& run : runs) {
        if (!run.membership || run.membership->sweep.empty()) {
            continue;
        }
        SweepOfRuns& study = studies[run.membership->sweep];
        const bool isFirst = study.results.empty();
        if (isFirst || std::ranges::equal(study.sweep.axes, run.membership->point, {}, &projects::SweepAxis::field,
                                          &projects::AxisPoint::field)) {
            add(study, run);
        }
    }
    for (auto& [name, study] : studies) {
        for (projects::SweepAxis& axis : study.sweep.axes) { // so that the ends of a range are its ends
            std::ranges::stable_sort(axis.values, {}, [](const projects::SweepValue& value) {
                return numberFrom<double>(value.label).value_or(std::numeric_limits<double>::max());
            });
        }
    }
    return studies;
}

std::string bestTable(const SweepOfRuns& study)
{
    const auto bests = projects::bestOfEach(study.sweep, study.results, study.judge);
    if (bests.empty()) {
        return {};
    }
    std::ostringstream out;
    out << "<div class='panel'><table><tr>";
    for (const std::string& label : projects::axisLabels(study.sweep, projects::AxisRole::Compared)) {
        out << "<th>" << escapeHtml(label) << "</th>";
    }
    for (const std::string& label : projects::axisLabels(study.sweep, projects::AxisRole::Searched)) {
        out << "<th>best " << escapeHtml(label) << "</th>";
    }
    out << "<th>" << escapeHtml(std::string(study.judge.quantity)) << ", mean ± deviation (n)</th><th>doubt</th></tr>";
    for (const projects::BestOfEach& best : bests) {
        out << "<tr>";
        for (const std::string& label : best.compared) {
            out << "<td>" << escapeHtml(label) << "</td>";
        }
        for (const std::string& label : best.best) {
            out << "<td class='n'>" << escapeHtml(label) << "</td>";
        }
        out << "<td class='n'>" << escapeHtml(projects::textOf(best.mean)) << "</td><td>" << escapeHtml(remarkOn(best))
            << "</td></tr>";
    }
    out << "</table></div>";
    return out.str();
}

std::string importanceLine(const SweepOfRuns& study)
{
    const auto importance = projects::importanceOf(study.sweep, study.results);
    if (!importance || study.sweep.axes.size() < 2) {
        return {};
    }
    std::string text;
    for (std::size_t axis = 0; axis < study.sweep.axes.size(); ++axis) {
        text += labelOf(study.sweep.axes[axis]) + " " + projects::shareText(importance->shares[axis]) + ", ";
    }
    return "<p>Share of the variance of " + countText(importance->count, "run") +
           " that a field explains: " + escapeHtml(text) + "fields together " + percentText(importance->together) +
           ".</p>";
}

} // namespace

std::string sweepSections(std::span<const engine::RunInfo> runs)
{
    std::string html;
    for (const auto& [name, study] : sweepsOf(runs)) {
        const std::string section = bestTable(study) + importanceLine(study);
        html += section.empty() ? "" : "<h2>Sweep " + escapeHtml(name) + "</h2>" + section;
    }
    return html;
}

} // namespace residua::report
