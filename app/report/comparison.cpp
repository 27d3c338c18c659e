// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/comparison_page.h"

#include "app/report/html_text.h"
#include "app/report/loss_figures.h"
#include "app/report/svg_plot.h"
#include "engine/base/api/gap.h"
#include "engine/base/api/values.h"
#include "engine/runs/results/loss_measures.h"
#include "engine/runs/results/run_groups.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/spent_flops.h"
#include "engine/runs/results/study_page.h"
#include "projects/diff/diff.h"
#include "projects/file/store.h"
#include "projects/model/field.h"
#include "projects/model/topology.h"
#include "projects/schedule/stage_schedule.h"
#include "projects/schema/fields.h"
#include "projects/schema/method_keys.h"
#include "projects/studies/sweep_grid.h"
#include "resources/axis.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <variant>

namespace residua::report {
namespace {

using engine::MetricPoint;
using resources::shortNumber;

/// Returns Log if every value is above 0 and they span more than two decades.
AxisScale scaleFor(const std::vector<PlotCurve>& curves)
{
    double low = std::numeric_limits<double>::max();
    double high = 0;
    for (const PlotCurve& curve : curves) {
        const resources::Curve::Range range = curve.points.range(0, curve.points.size());
        low = std::min(low, range.low);
        high = std::max(high, range.high);
    }
    return low > 0 && high > 100 * low ? AxisScale::Logarithmic : AxisScale::Linear;
}

/// Returns a field of the document as a cell of the table: the wiring, the stages, or a value.
std::string fieldText(const projects::Project& project, const std::string& pointer)
{
    if (pointer == "/topology") {
        return projects::wiringName(project.stack().topology, project.network);
    }
    if (pointer == "/schedule/stages") {
        return projects::stageLengthsText(project.stack().schedule);
    }
    const auto entry = projects::findField(project, pointer);
    if (entry && entry->type == projects::FieldType::Choice) {
        return std::string(entry->choices[static_cast<std::size_t>(std::get<std::int64_t>(entry->value))].title);
    }
    return std::visit(
        []<class T>(const T& value) -> std::string {
            if constexpr (std::is_same_v<T, std::monostate>) {
                return "–";
            } else if constexpr (std::is_same_v<T, bool>) {
                return value ? "on" : "off";
            } else if constexpr (std::is_same_v<T, double>) {
                return shortNumber(value);
            } else if constexpr (std::is_same_v<T, std::string>) {
                return value;
            } else {
                return std::to_string(value);
            }
        },
        entry ? entry->value : projects::FieldScalar());
}

} // namespace

ComparisonPage::ComparisonPage(const Comparison& asked, ComparedRuns found)
    : m_asked(asked), m_runs(std::move(found.runs)), m_faults(std::move(found.faults))
{
    std::ranges::transform(asked.missing, std::back_inserter(m_faults),
                           [](const std::string& name) { return name + ": is not there"; });
    group();
    m_ratings = engine::ratingColumns(infos());
    const auto longest = std::ranges::max_element(m_runs, {}, [](const ComparedRun& run) { return run.info.steps; });
    m_lastSteps = engine::lastSteps(longest->info.steps);
}

Result<ComparisonPageText> ComparisonPage::html()
{
    RESIDUA_TRY(findBaseline());
    m_out << pageHead(m_asked.title) << "<h1>" << escapeHtml(m_asked.title) << "</h1><p class='sub'>" << counts()
          << "</p>" << htmlMarkdown(m_asked.notes);
    if (!m_runs.front().project.description.empty()) {
        m_out << "<p>" << escapeHtml(m_runs.front().project.description) << "</p>";
    }
    m_out << faultList(m_faults);
    groupTable();
    notes();
    table();
    m_out << sweepSections(infos());
    notDrawn();
    lossDifferences();
    curves("Training loss", "loss", engine::metric::kLoss);
    curves("Validation loss", "loss", engine::metric::kValidationLoss);
    for (const engine::MetricTraits& metric : m_ratings) {
        curves(projects::headline(metric.title), metric.title, metric.name);
    }
    lossesByTime();
    degrees();
    reached();
    costs();
    starts();
    bounds();
    differences();
    m_out << "</body></html>\n";
    ComparisonPageText page{m_out.str()};
    if (m_baseline) {
        const std::size_t first = m_baseline->runs.front();
        page.baselineRun = m_runs[first].info.directory;
        page.baselineAlone = m_baseline->runs != m_groups.groupOf(first).runs;
    }
    return page;
}

/// Returns a text such as "14 runs: 9 finished, 2 running", so that an unfinished study is recognisable.
std::string ComparisonPage::counts() const
{
    std::string text = std::to_string(m_runs.size()) + (m_runs.size() == 1 ? " run" : " runs");
    const char* divider = ": ";
    for (const engine::RunStatus status :
         {engine::RunStatus::Finished, engine::RunStatus::Running, engine::RunStatus::Paused,
          engine::RunStatus::Stopped, engine::RunStatus::Interrupted, engine::RunStatus::Failed}) {
        const auto count =
            std::ranges::count_if(m_runs, [&](const ComparedRun& run) { return run.info.status == status; });
        if (count > 0) {
            text += divider + std::to_string(count) + " " + engine::textOf(status);
            divider = ", ";
        }
    }
    return text;
}

/// Describes the progress of a run.
std::string progressOf(const engine::RunInfo& info)
{
    const std::string word = engine::textOf(info.status);
    switch (info.status) {
    case engine::RunStatus::Finished:
        return word;
    case engine::RunStatus::Failed:
        return word + " at step " + std::to_string(info.step) + ": " + withoutPlaces(info.message, info.directory);
    default:
        return word + " at step " + std::to_string(info.step) + " of " + std::to_string(info.steps);
    }
}

bool ComparisonPage::hasColumn(const char* key) const
{
    return std::ranges::find(m_asked.columns, "-" + std::string(key)) == m_asked.columns.end();
}

void ComparisonPage::table()
{
    std::vector<std::string> fields = m_asked.columns;
    std::erase_if(fields, [](const std::string& key) { return !key.starts_with('/'); });
    const bool hasLoss = hasColumn("loss");
    const bool hasValidation = hasColumn("validationLoss");
    m_out << "<div class='panel'><table><tr><th>run</th><th>status</th>";
    for (const std::string& field : fields) {
        m_out << "<th>" << escapeHtml(projects::placeInSection(m_runs.front().project, field)) << "</th>";
    }
    m_out << "<th>parameters</th><th>training FLOP</th>" << (hasLoss ? "<th>loss</th>" : "")
          << (hasValidation ? "<th>validation</th>" : "");
    for (const engine::MetricTraits& metric : m_ratings) {
        m_out << "<th>" << escapeHtml(metric.title) << "</th>";
    }
    const bool isGrouped = m_groups.groups.size() < m_runs.size(); // the table of groups has the front
    m_out << "<th>perplexity</th><th>bits per byte</th>" << (isGrouped ? "" : "<th>Pareto front</th>") << "</tr>";
    for (std::size_t i = 0; i < m_runs.size(); ++i) {
        const ComparedRun& run = m_runs[i];
        const bool finished = run.info.status == engine::RunStatus::Finished; // no other loss is a result
        const auto number = [](double value) { return std::isfinite(value) ? shortNumber(value) : std::string("–"); };
        const auto cell = [&](double value) {
            m_out << "<td class='n'>" << (finished ? number(value) : "–") << "</td>";
        };
        const auto measures = finished ? engine::measuresOf(run.project, run.info.rating("loss")) : std::nullopt;
        m_out << "<tr><td>" << swatch(colourOf(i)) << escapeHtml(run.label) << "</td><td>"
              << escapeHtml(progressOf(run.info)) << "</td>";
        for (const std::string& field : fields) {
            m_out << "<td>" << escapeHtml(fieldText(run.project, field)) << "</td>";
        }
        m_out << "<td class='n'>" << run.parameters << "</td><td class='n'>" << (run.isCostWhole ? "" : "&gt; ")
              << shortNumber(run.flops) << "</td>";
        if (hasLoss) {
            cell(run.info.loss());
        }
        if (hasValidation) {
            cell(run.info.validationLoss());
        }
        for (const engine::MetricTraits& metric : m_ratings) {
            cell(run.info.last(metric.name));
        }
        m_out << "<td class='n'>" << (measures ? number(measures->perplexity) : "–") << "</td><td class='n'>"
              << (measures && measures->bitsPerByte ? number(*measures->bitsPerByte) : "–") << "</td>"
              << (isGrouped                 ? ""
                  : onFront(m_groups.of[i]) ? "<td>★</td>"
                                            : "<td></td>")
              << "</tr>";
    }
    m_out << "</table></div>";
}

/// For each run, the time when it first reached the final loss of the reference run. The reference is the plain network
/// if it has finished, else the first finished run (DeepCrossAttention, table 1).
void ComparisonPage::reached()
{
    const auto hasFinished = [](const ComparedRun& run) { return finalValue(run.info).has_value(); };
    auto other = std::ranges::find_if(m_runs, [&](const ComparedRun& run) {
        // By the wiring and not the preset's name, because the wiring may have been changed.
        return hasFinished(run) && projects::isPlainResidual(run.project.stack().topology.wiring) &&
               projects::trainsAll(run.project.stack().schedule);
    });
    other = other == m_runs.end() ? std::ranges::find_if(m_runs, hasFinished) : other;
    if (m_runs.size() < 2 || other == m_runs.end()) {
        return;
    }
    const std::string compared = comparedLoss();
    const double target = other->metric(compared).back().value;
    const double whole = other->seconds().empty() ? 0 : other->seconds().back().value;
    m_out << "<h2>Until the loss of " << escapeHtml(other->label) << "</h2><p>When each run first had "
          << (compared == engine::metric::kValidationLoss ? "the validation loss " : "the training loss ")
          << shortNumber(target)
          << ".</p><div class='panel'><table><tr><th>run</th><th>step</th><th>seconds</th><th>share of its "
             "time</th></tr>";
    for (std::size_t i = 0; i < m_runs.size(); ++i) {
        const auto when = engine::firstReached(m_runs[i].metric(compared), target, m_runs[i].seconds());
        const bool timed = when && when->seconds;
        m_out << "<tr><td>" << swatch(colourOf(i)) << escapeHtml(m_runs[i].label) << "</td><td class='n'>"
              << (when ? std::to_string(when->step) : "not yet") << "</td><td class='n'>"
              << (timed ? shortNumber(*when->seconds) : "–") << "</td><td class='n'>"
              << (timed && whole > 0 ? shortNumber(*when->seconds / whole) : "–") << "</td></tr>";
    }
    m_out << "</table></div>";
}

bool ComparisonPage::draw(PlotSpec spec)
{
    spec.yScale = scaleFor(spec.curves);
    const std::string svg = svgPlot(spec);
    m_out << (svg.empty() ? "" : "<figure>" + svg + "</figure>");
    return !svg.empty();
}

const char* ComparisonPage::comparedLoss() const
{
    const auto isValidated = [](const ComparedRun& run) {
        return !run.metric(engine::metric::kValidationLoss).empty();
    };
    return std::ranges::all_of(m_runs, isValidated) ? engine::metric::kValidationLoss : engine::metric::kLoss;
}

void ComparisonPage::curves(const std::string& title, const std::string& label, const std::string& metric)
{
    PlotSpec spec{title, "step", label, {}};
    spec.yBounds = boundsOf(metric);
    for (std::size_t i = 0; i < m_runs.size(); ++i) {
        if (isDrawn(i)) {
            spec.curves.push_back(curveOf(nameOf(i), colourOf(i), placed(byStep(), m_runs[i].metric(metric))));
        }
    }
    draw(std::move(spec));
}

/// Losses against seconds: steps are shorter where a schedule leaves parts of a network out and longer where a topology
/// mixes more (DeepCrossAttention, figures 7 and 8), and only the clock shows it.
void ComparisonPage::lossesByTime()
{
    const projects::Wiring& first = m_runs.front().project.stack().topology.wiring;
    if (std::ranges::all_of(m_runs, [&](const ComparedRun& run) {
            return projects::trainsAll(run.project.stack().schedule) && run.project.stack().topology.wiring == first;
        })) {
        return;
    }
    const std::string compared = comparedLoss();
    const bool validated = compared == engine::metric::kValidationLoss;
    PlotSpec spec{validated ? "Validation loss against training time" : "Training loss against training time",
                  "seconds",
                  "loss",
                  {}};
    for (std::size_t i = 0; i < m_runs.size(); ++i) {
        if (m_runs[i].seconds().empty() || !isDrawn(i)) {
            continue;
        }
        const LossAxis axis = byTime(m_runs[i].seconds());
        spec.curves.push_back(curveOf(nameOf(i), colourOf(i), placed(axis, m_runs[i].metric(compared))));
        spec.xLeast = axis.least;
    }
    draw(std::move(spec));
}

/// The error of the polynomial's degrees over the steps, a figure for each of at most five degrees, the lowest and the
/// highest among them (RaPTr, figure 2b).
void ComparisonPage::degrees()
{
    constexpr std::size_t kMostFigures = 5;
    std::size_t count = 0;
    for (const ComparedRun& run : m_runs) {
        count = std::max(count, run.degrees.size());
    }
    const std::size_t shown = std::min(count, kMostFigures);
    for (std::size_t i = 0; i < shown; ++i) {
        const std::size_t degree = shown < 2 ? 0 : i * (count - 1) / (shown - 1);
        PlotSpec spec{"Error of degree " + std::to_string(degree + 1), "step", "share of the coefficients", {}};
        for (std::size_t r = 0; r < m_runs.size(); ++r) {
            if (degree < m_runs[r].degrees.size() && isDrawn(r)) {
                spec.curves.push_back(curveOf(nameOf(r), colourOf(r), m_runs[r].degrees[degree].points));
            }
        }
        draw(std::move(spec));
    }
}

/// Loss against cost: a point per group at the means of its finished runs, the front joined.
void ComparisonPage::costs()
{
    constexpr double kMega = 1e6;
    const auto addTo = [&](PlotCurve& curve, const engine::RunGroup& group) {
        curve.points.append(std::max(0.0, flopsOf(group) / kMega), resultOf(group).mean);
    };
    PlotSpec spec{"Loss against cost", "training, MFLOP", "loss", {}};
    PlotCurve front{"Pareto front", {}, Stroke::Faint, 0};
    for (const std::size_t group : m_front) {
        addTo(front, m_groups.groups[group]);
    }
    spec.curves.push_back(front);
    for (const engine::RunGroup& group : m_groups.groups) {
        if (resultOf(group).count == 0) {
            continue;
        }
        PlotCurve point = curveOf(sharesName(group) ? group.label : m_runs[group.runs.front()].label, group.colour, {});
        addTo(point, group);
        point.stroke = Stroke::Dots;
        spec.curves.push_back(point);
    }
    m_out << "<h2>Cost</h2>";
    if (!draw(std::move(spec))) {
        m_out << "<p>No run has finished yet.</p>";
    }
}

/// Loss over the error of each run's initial factors, by their method ("Nonlinear Initialization Methods for Low-Rank
/// Neural Networks", figure 2).
void ComparisonPage::starts()
{
    constexpr double kPerMille = 1000;
    std::map<projects::LowRankMethod, std::multimap<double, double>> lossesByError;
    for (const ComparedRun& run : m_runs) {
        const std::optional<double> loss = finalValue(run.info);
        const bool isOne = loss && run.gap && run.gap->methods.size() == 1;
        if (const double error = isOne ? totalOf(*run.gap, 0).relativeError : -1; error >= 0) {
            lossesByError[run.gap->methods.front()].emplace(kPerMille * error, *loss);
        }
    }
    PlotSpec spec{"Loss against the start", "function error of the start, per mille", "loss", {}};
    for (const auto& [method, losses] : lossesByError) {
        PlotCurve& curve = spec.curves.emplace_back();
        curve = {projects::titleOf(method), {}, Stroke::Dots, static_cast<std::size_t>(method)};
        for (const auto& [error, loss] : losses) {
            curve.points.append(error, loss);
        }
    }
    if (const std::string svg = svgPlot(spec); !svg.empty()) {
        m_out << "<h2>What a closer start is worth</h2><p>Each run's last loss against the function error that its "
                 "weights in factors started with, over all of them. Starts as drawn record none.</p><figure>"
              << svg << "</figure>";
    }
}

void ComparisonPage::bounds()
{
    std::string figures;
    for (const ComparedRun& run : m_runs) {
        figures += boundFigures(run.label, run.project, run.metric(engine::metric::kLoss));
    }
    if (!figures.empty()) {
        m_out << "<h2>What the theory says</h2>" << figures;
    }
}

void ComparisonPage::differences()
{
    m_out << "<h2>Differences</h2><div class='panel'><table><tr><th>run</th><th>from "
          << escapeHtml(m_runs.front().label) << "</th></tr>";
    for (std::size_t i = 1; i < m_runs.size(); ++i) {
        m_out << "<tr><td>" << escapeHtml(m_runs[i].label) << "</td><td>";
        for (const projects::Change& change : projects::diff(m_runs.front().project, m_runs[i].project)) {
            if (change.part != projects::ChangedPart::Remark) {
                m_out << escapeHtml(change.text()) << "<br>";
            }
        }
        m_out << "</td></tr>";
    }
    m_out << "</table></div>";
}

Result<ComparisonPageText> comparisonHtml(const Comparison& comparison)
{
    ComparedRuns found = readRuns(comparison.runs);
    if (found.runs.empty()) {
        std::vector<std::string> reasons = std::move(found.faults);
        reasons.insert(reasons.end(), comparison.missing.begin(), comparison.missing.end());
        return Error{comparison.title, "has no run that can be read; expected a run's directory or a folder of runs" +
                                           (reasons.empty() ? "" : "; " + reasons.front())};
    }
    return ComparisonPage(comparison, std::move(found)).html();
}

Result<std::string> pageHtml(const std::filesystem::path& file)
{
    const auto page = RESIDUA_TRY(engine::readPage(file));
    std::error_code ignored;
    const std::filesystem::path folder = std::filesystem::absolute(file, ignored).lexically_normal().parent_path();
    engine::PageRuns found = engine::runsOf(page, engine::listRuns(folder), folder);
    Comparison comparison{.title = engine::pageName(file),
                          .runs = std::move(found.runs),
                          .folder = folder,
                          .notes = page.notes,
                          .missing = std::move(found.missing),
                          .columns = page.view.columns};
    constexpr const char* kLossPlot = "loss"; // the name of its panel
    for (const char* const plot : {kLossPlot, engine::kLeftOut}) {
        const auto hidden = page.view.hidden.find(plot);
        for (const std::string& entry :
             hidden == page.view.hidden.end() ? std::vector<std::string>() : hidden->second) {
            const bool isRun = entry.starts_with(engine::kHiddenRun);
            const std::string_view of = std::string_view(entry).substr(entry.find(' ') + 1);
            comparison.hidden.insert(isRun ? (folder / of).string() : std::string(of));
        }
    }
    const std::string baseline = page.baseline.empty() ? std::string() : (folder / page.baseline).string();
    if (std::ranges::find(comparison.runs, baseline, &engine::RunInfo::directory) != comparison.runs.end()) {
        comparison.baseline = baseline;
        comparison.baselineIs = page.baselineAlone ? Comparison::Baseline::AsNamed : Comparison::Baseline::WholeGroup;
    } else if (!baseline.empty()) {
        comparison.missing.push_back("the baseline " + page.baseline);
    }
    auto text = comparisonHtml(comparison);
    return text ? Result<std::string>(std::move(text->html)) : text.error();
}

} // namespace residua::report
