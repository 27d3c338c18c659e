// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/report.h"

#include "app/report/html_text.h"
#include "app/report/loss_figures.h"
#include "app/report/svg_plot.h"
#include "app/report/sweep_section.h"
#include "engine/base/api/metric_traits.h"
#include "engine/runs/results/gap_summary.h"
#include "engine/runs/results/loss_measures.h"
#include "engine/runs/results/run_groups.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/spent_flops.h"
#include "projects/diff/diff.h"
#include "projects/file/store.h"
#include "projects/model/field.h"
#include "projects/model/topology.h"
#include "projects/schedule/stage_schedule.h"
#include "projects/schema/method_keys.h"
#include "projects/studies/sweep_grid.h"
#include "resources/axis.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>
#include <variant>

namespace residua::report {
namespace {

using engine::MetricPoint;
using resources::shortNumber;

struct ComparedRun {
    std::string label; ///< name of its directory; then its label among the others (engine::RunGroups)
    engine::RunInfo info;
    projects::Project project;
    std::map<std::string, std::vector<MetricPoint>> metrics = {}; ///< those that rate it, and the seconds
    std::int64_t parameters = 0;
    double flops = 0;                    ///< spent so far
    bool isCostWhole = true;             ///< false if FLOP do not include the training of its initial weights
    std::optional<engine::Gap> gap = {}; ///< of its factors at the start
    std::vector<PlotCurve> degrees = {}; ///< the error of each degree of its target (degreeErrors)

    [[nodiscard]] const std::vector<MetricPoint>& metric(const std::string& name) const
    {
        static const std::vector<MetricPoint> kNone;
        const auto found = metrics.find(name);
        return found == metrics.end() ? kNone : found->second;
    }
    [[nodiscard]] const std::vector<MetricPoint>& seconds() const { return metric(engine::metric::kSeconds); }
};

/// The runs of a folder, and the reasons why others cannot be shown.
struct Folder {
    std::vector<ComparedRun> runs;
    std::vector<std::string> faults;
};

Folder readRuns(const std::filesystem::path& folder)
{
    std::vector<ComparedRun> runs;
    std::vector<std::string> faults;
    for (const engine::RunInfo& listed : engine::listRuns(folder)) {
        const std::filesystem::path directory = listed.directory;
        const auto reader = engine::RunReader::open(directory);
        const auto project = reader ? reader->project() : Result<projects::Project>(reader.error());
        if (!project) {
            faults.push_back(directory.filename().string() + ": " + withoutPlaces(project.error().text(), directory));
            continue;
        }
        ComparedRun run{directory.filename().string(), listed, withoutPlaces(*project)};
        for (const std::string& name : reader->metricNames()) {
            if (engine::isRating(name) || name == engine::metric::kSeconds) {
                run.metrics[name] = reader->metric(name);
            }
        }
        run.degrees = degreeErrors(*reader);
        if (auto gap = reader->gap(); gap) {
            run.gap = *std::move(gap); // a damaged record is among the reader's faults
        }
        if (run.metric(engine::metric::kLoss).empty()) {
            run.info.values.erase(engine::metric::kLoss); // it has no step yet
        }
        for (const Error& fault : reader->faults()) {
            faults.push_back(run.label + ": " + withoutPlaces(fault.text(), directory));
        }
        if (const auto cost = projects::costOf(*project)) {
            run.parameters = cost->total.parameters;
            const engine::SpentFlops spent = engine::spentFlopsOf(*reader, *project, *cost);
            const auto units = reader->lastPoint(engine::metric::kUnits, listed.step);
            run.flops = units ? spent.at(static_cast<double>(units->step), units->value) : 0;
            run.isCostWhole = spent.isWhole;
        }
        runs.push_back(std::move(run));
    }
    std::ranges::sort(runs, {}, &ComparedRun::label);
    std::ranges::sort(faults);
    return {std::move(runs), std::move(faults)};
}

/// Returns the stroke of a group's colour number: solid for the first kPageColours, then two kinds of dashes.
Stroke strokeOf(std::size_t colour)
{
    static constexpr Stroke kStrokes[] = {Stroke::Solid, Stroke::Dashed, Stroke::Dotted};
    return kStrokes[colour / kPageColours % std::size(kStrokes)];
}

PlotCurve curveOf(const std::string& name, std::size_t colour, resources::Curve points)
{
    return {name, std::move(points), strokeOf(colour), colour % kPageColours};
}

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

class ComparisonPage {
public:
    ComparisonPage(std::string title, Folder folder, const std::optional<std::filesystem::path>& colours)
        : m_title(std::move(title)), m_runs(std::move(folder.runs)), m_faults(std::move(folder.faults))
    {
        group(colours);
        m_ratings = engine::ratingColumns(infos());
    }

    [[nodiscard]] std::string html();

private:
    [[nodiscard]] std::vector<engine::RunInfo> infos() const
    {
        std::vector<engine::RunInfo> infos;
        std::ranges::transform(m_runs, std::back_inserter(infos), &ComparedRun::info);
        return infos;
    }
    /// Groups the runs, in the colours that the folder keeps, and labels them.
    void group(const std::optional<std::filesystem::path>& colours);
    /// Returns the mean of what the group's finished runs are judged by, and of their FLOP.
    [[nodiscard]] projects::MeanOfSeveral resultOf(const engine::RunGroup& group) const;
    [[nodiscard]] double flopsOf(const engine::RunGroup& group) const;
    /// True if the group's runs repeat it with other seeds, so that they share an entry in legends.
    [[nodiscard]] bool sharesName(const engine::RunGroup& group) const;
    [[nodiscard]] std::string nameOf(std::size_t run) const;
    [[nodiscard]] std::size_t colourOf(std::size_t run) const { return m_groups.groupOf(run).colour; }
    [[nodiscard]] std::string counts() const;
    void groupTable();
    /// Adds a figure with a suitable scale. Returns false if it would be empty.
    bool draw(PlotSpec spec);
    void curves(const std::string& title, const std::string& label, const std::string& metric);
    /// Returns the validation loss if every run has it, else the training loss.
    [[nodiscard]] const char* comparedLoss() const;
    void lossesByTime();
    void degrees();
    void bounds();
    void costs();
    void starts();
    void table();
    void reached();
    void differences();
    [[nodiscard]] bool onFront(std::size_t group) const { return std::ranges::find(m_front, group) != m_front.end(); }
    [[nodiscard]] static std::string swatch(std::size_t colour);

    std::string m_title;
    std::vector<ComparedRun> m_runs;
    std::vector<std::string> m_faults;
    engine::RunGroups m_groups;
    std::vector<std::size_t> m_front;            ///< indices of groups, by cost
    std::vector<engine::MetricTraits> m_ratings; ///< besides the losses
    std::ostringstream m_out;
};

void ComparisonPage::group(const std::optional<std::filesystem::path>& colours)
{
    std::vector<engine::TrainedRun> trained;
    for (const ComparedRun& run : m_runs) {
        trained.push_back({&run.info, &run.project});
    }
    m_groups = engine::groupsOf(trained);
    if (colours) {
        engine::keepColours(m_groups, *colours);
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
    std::vector<double> values;
    for (const std::size_t run : group.runs) {
        if (finalValue(m_runs[run].info)) {
            values.push_back(m_runs[run].flops);
        }
    }
    return projects::meanOf(values).mean;
}

bool ComparisonPage::sharesName(const engine::RunGroup& group) const
{
    std::set<std::string> seeds;
    for (const std::size_t run : group.runs) {
        seeds.insert(m_groups.seeds[run]);
    }
    return group.runs.size() > 1 && seeds.size() == group.runs.size();
}

/// Returns the name of the run in legends: the group's for its first run, and an empty one for the others.
std::string ComparisonPage::nameOf(std::size_t run) const
{
    const engine::RunGroup& of = m_groups.groupOf(run);
    return !sharesName(of) ? m_runs[run].label : of.runs.front() == run ? of.label : std::string();
}

std::string ComparisonPage::html()
{
    m_out << pageHead(m_title) << "<h1>" << escapeHtml(m_title) << "</h1><p class='sub'>" << counts() << "</p>";
    if (!m_runs.front().project.description.empty()) {
        m_out << "<p>" << escapeHtml(m_runs.front().project.description) << "</p>";
    }
    m_out << faultList(m_faults);
    groupTable();
    table();
    m_out << sweepSections(infos());
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
    return m_out.str();
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
    if (std::ranges::all_of(m_groups.groups, [](const auto& group) { return group.runs.size() == 1; })) {
        return;
    }
    m_out << "<div class='panel'><table><tr><th>group</th><th>runs</th><th>training FLOP</th><th>"
          << escapeHtml(m_runs.front().info.judge().quantity)
          << ", mean ± deviation (n)</th><th>Pareto front</th></tr>";
    for (std::size_t i = 0; i < m_groups.groups.size(); ++i) {
        const engine::RunGroup& group = m_groups.groups[i];
        const double flops = flopsOf(group);
        m_out << "<tr><td>" << swatch(group.colour) << escapeHtml(group.label) << "</td><td class='n'>"
              << group.runs.size() << "</td><td class='n'>" << (std::isfinite(flops) ? shortNumber(flops) : "–")
              << "</td><td class='n'>" << escapeHtml(projects::textOf(resultOf(group))) << "</td><td>"
              << (onFront(i) ? "★" : "") << "</td></tr>";
    }
    m_out << "</table></div>";
}

void ComparisonPage::table()
{
    m_out << "<div class='panel'><table><tr><th>run</th><th>status</th><th>parameters</th><th>training FLOP</th>"
             "<th>loss</th><th>validation</th>";
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
              << escapeHtml(progressOf(run.info)) << "</td><td class='n'>" << run.parameters << "</td><td class='n'>"
              << (run.isCostWhole ? "" : "&gt; ") << shortNumber(run.flops) << "</td>";
        cell(run.info.loss());
        cell(run.info.validationLoss());
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
        spec.curves.push_back(curveOf(nameOf(i), colourOf(i), placed(byStep(), m_runs[i].metric(metric))));
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
        if (m_runs[i].seconds().empty()) {
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
            if (degree < m_runs[r].degrees.size()) {
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

} // namespace

Result<std::string> comparisonHtml(const std::filesystem::path& folder)
{
    Folder found = readRuns(folder);
    if (found.runs.empty()) {
        const std::string first = found.faults.empty() ? "" : "; " + found.faults.front();
        return Error{folder.string(),
                     "holds no run that can be read; expected a run's directory or a folder of runs" + first};
    }
    std::error_code ignored; // on an error the page has no title
    const auto name = std::filesystem::absolute(folder / "", ignored).lexically_normal().parent_path().filename();
    return ComparisonPage(name.string(), std::move(found), engine::groupsFolderOf(folder)).html();
}

} // namespace residua::report
