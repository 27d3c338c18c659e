// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/report.h"

#include "app/report/html_text.h"
#include "app/report/loss_figures.h"
#include "engine/base/api/matrix_name.h"
#include "engine/base/api/row_curves.h"
#include "engine/base/api/values.h"
#include "engine/runs/results/coefficients.h"
#include "engine/runs/results/loss_measures.h"
#include "engine/runs/results/spent_flops.h"
#include "engine/runs/results/stages.h"
#include "projects/base/text.h"
#include "projects/base/whole_file.h"
#include "projects/cost/cost.h"
#include "projects/cost/stage_cost.h"
#include "projects/depth/weight_scale.h"
#include "projects/file/json.h"
#include "projects/file/store.h"
#include "projects/model/field.h"
#include "projects/nodes/example_schema.h"
#include "resources/axis.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <sstream>
#include <utility>

namespace residua::report {
namespace {

using engine::MetricPoint;
using engine::RunReader;
using resources::shortNumber;

constexpr std::size_t kMostFrames = 60;         ///< frames of a heatmap on a page, evenly spaced
constexpr std::size_t kMostCells = 300'000;     ///< of all heatmaps on a page
constexpr std::size_t kMostNumbers = 3'000'000; ///< in all frames of these heatmaps
constexpr std::size_t kMostEvents = 1000;       ///< the last ones
constexpr std::size_t kMostEventText = 2000;    ///< bytes of one event's text

// Paints a frame into the existing cells of the page.
const char* const kScript = R"(
document.querySelectorAll('figure.heatmap').forEach(f=>{
 const read=c=>JSON.parse(f.querySelector('script.'+c).textContent),d=read('frames'),k=read('colours');
 const digits=+f.dataset.digits,low=+f.dataset.low,high=+f.dataset.high,cells=[...f.querySelectorAll('[data-cell]')],n=f.querySelector('input');
 const dark=h=>{const v=parseInt(h.slice(1),16);return .299*(v>>16)+.587*(v>>8&255)+.114*(v&255)<140};
 const show=i=>{f.querySelector('output').textContent=d.steps[i];cells.forEach(g=>{
  const c=+g.dataset.cell,v=d.values[i][c],t=(v-low)/(high-low),h=k[Math.max(0,Math.min(k.length-1,Math.round(t*(k.length-1))))];
  const none=v===null,x=g.querySelector('text');g.querySelector('rect').setAttribute('fill',none?'none':h);
  g.querySelector('title').textContent=none?'':(c%d.columns+ +(f.dataset.columns??0))+':'+(Math.floor(c/d.columns)+ +(f.dataset.rows??1))+' = '+v;
  if(x){x.textContent=none?'':v.toFixed(Math.min(digits,3));x.setAttribute('fill',dark(h)?'#fff':'#000')}})};
 const s=f.querySelector('.scale i');if(s)s.style.background='linear-gradient(90deg,'+k.join(',')+')';
 if(n)n.addEventListener('input',()=>show(+n.value));show(d.steps.length-1)});
document.querySelectorAll('figure.pictures input').forEach(n=>n.addEventListener('input',()=>n.parentNode.querySelectorAll('img').forEach((g,i)=>{
 g.hidden=i!=n.value;if(!g.hidden)n.parentNode.querySelector('output').textContent=g.dataset.step})));
)";

/// Formats a duration, below a minute with a tenth of a second.
std::string duration(double seconds)
{
    return seconds >= 0 && seconds < 60 ? fixedText(seconds, 1) + " s" : durationText(seconds);
}

/// Formats an integer with grouped digits. Other values are formatted by shortNumber().
std::string grouped(double value)
{
    constexpr double kWhole = 1e15;
    if (!(value >= 0 && value < kWhole)) {
        return shortNumber(value);
    }
    return groupedText(std::llround(value));
}

class RunPage {
public:
    RunPage(const RunReader& run, engine::RunInfo info, projects::Project project)
        : m_run(run), m_info(std::move(info)), m_project(std::move(project)), m_stages(engine::stageRecords(run))
    {
        const auto cost = projects::costOf(m_project);
        const auto units = run.metric(engine::metric::kUnits);
        if (cost && !units.empty() && units.back().step > 0) {
            m_unitsPerStep = units.back().value / static_cast<double>(units.back().step);
            m_flops = engine::spentFlopsOf(run, m_project, *cost);
        }
    }

    [[nodiscard]] std::string html();

private:
    [[nodiscard]] std::string head() const;
    [[nodiscard]] std::string faults() const;
    void cards();
    /// The last loss, preferably of validation, in the measures of language models.
    void measures();
    void plots();
    /// Returns the FLOP of the first `step` steps, without the parts that they leave out; NaN if the shapes are
    /// unknown.
    [[nodiscard]] double flopsAt(std::int64_t step) const;
    void transitions();
    void gap();
    void heatmaps();
    void confusion();
    /// The pictures of episodes in a world.
    void episodes();
    /// The images that a diffusion model made.
    void samples();
    void events();
    void document();
    /// The frames of each matrix on the page, by its name.
    using Heatmaps = std::vector<std::pair<engine::MatrixName, std::vector<engine::Matrix>>>;
    [[nodiscard]] std::vector<engine::Matrix> framesOf(const engine::MatrixName& name);
    [[nodiscard]] projects::WeightScale scaleOf(const std::string& kind, const Heatmaps& heatmaps) const;
    void card(const std::string& value, const std::string& label);
    /// Adds a figure over steps with the stages as bands.
    void figure(PlotSpec spec);
    void draw(const PlotSpec& spec);
    [[nodiscard]] std::string lastOf(const char* name) const;
    [[nodiscard]] std::string unit() const { return projects::unitWord(m_project.data) + std::string("s"); }

    const RunReader& m_run;
    engine::RunInfo m_info;
    projects::Project m_project;
    std::vector<engine::StageRecord> m_stages;
    double m_unitsPerStep = 0;
    engine::SpentFlops m_flops;
    std::vector<std::string> m_leftOut; ///< omissions of the page, with the reasons
    std::size_t m_cells = kMostCells;   ///< remaining number of cells
    std::size_t m_numbers = kMostNumbers;
    std::ostringstream m_out;
};

std::string RunPage::html()
{
    cards();
    plots();
    for (PlotSpec& spec : rowFigures(m_run)) {
        figure(std::move(spec));
    }
    transitions();
    gap();
    heatmaps();
    confusion();
    episodes();
    samples();
    events();
    document();
    return head() + faults() + m_out.str() + "<script>" + kScript + "</script></body></html>\n";
}

std::string RunPage::head() const
{
    std::ostringstream out;
    out << pageHead(m_info.name) << "<h1>" << escapeHtml(m_info.name) << "</h1><p class='sub'>"
        << escapeHtml(engine::textOf(m_info.status)) << " at step " << m_info.step << " of " << m_info.steps << " · "
        << escapeHtml(m_info.device) << " · " << escapeHtml(m_info.created) << "</p>";
    if (!m_info.message.empty()) {
        out << "<p class='panel'>" << escapeHtml(withoutPlaces(m_info.message, m_info.directory)) << "</p>";
    }
    if (!m_project.description.empty()) {
        out << "<p>" << escapeHtml(m_project.description) << "</p>";
    }
    return out.str();
}

/// Must be called after everything has been read.
std::string RunPage::faults() const
{
    std::vector<std::string> all = m_leftOut;
    for (const Error& fault : m_run.faults()) {
        all.push_back(withoutPlaces(fault.text(), m_info.directory));
    }
    return faultList(all);
}

void RunPage::card(const std::string& value, const std::string& label)
{
    m_out << "<div><b>" << escapeHtml(value) << "</b><span>" << escapeHtml(label) << "</span></div>";
}

std::string RunPage::lastOf(const char* name) const
{
    const auto points = m_run.metric(name);
    return points.empty() ? "–" : shortNumber(points.back().value);
}

void RunPage::measures()
{
    const auto measures = engine::measuresOf(m_project, m_info.rating("loss"));
    if (!measures) {
        return;
    }
    const std::string of = std::isfinite(m_info.validationLoss()) ? ", validation" : ", training";
    card(shortNumber(measures->perplexity), "perplexity" + of);
    if (measures->bitsPerByte) {
        card(shortNumber(*measures->bitsPerByte), "bits per byte" + of);
    }
}

void RunPage::cards()
{
    m_out << "<div class='cards'>";
    card(lastOf(engine::metric::kLoss), "training loss, last step");
    card(lastOf(engine::metric::kValidationLoss), "validation loss, last");
    for (const engine::MetricTraits& metric : engine::ratingColumns(std::span(&m_info, 1))) {
        card(shortNumber(m_info.last(metric.name)), metric.title + ", last");
    }
    measures();
    if (const auto cost = projects::costOf(m_project)) {
        card(grouped(static_cast<double>(cost->total.parameters)), "parameters");
    }
    card(m_project.stack().topology.preset,
         "topology, " + countText(static_cast<std::size_t>(m_project.network.depth()), "layer"));
    const auto units = m_run.metric(engine::metric::kUnits);
    const auto seconds = m_run.metric(engine::metric::kSeconds);
    if (!units.empty() && !seconds.empty() && seconds.back().value > 0) {
        card(grouped(units.back().value / seconds.back().value), unit() + " per second");
        card(duration(seconds.back().value), grouped(units.back().value) + " " + unit() + " in all");
    }
    m_out << "</div>";
}

void RunPage::figure(PlotSpec spec)
{
    for (const engine::StageRecord& stage : m_stages) {
        spec.bands.push_back({static_cast<double>(stage.step), stage.name});
    }
    draw(spec);
}

void RunPage::draw(const PlotSpec& spec)
{
    if (const std::string svg = svgPlot(spec); !svg.empty()) {
        m_out << "<figure>" << svg << "</figure>";
    }
}

double RunPage::flopsAt(std::int64_t step) const
{
    const auto done = static_cast<double>(step);
    return m_flops.at(done, done * m_unitsPerStep);
}

void RunPage::plots()
{
    m_out << "<h2>Training</h2>";
    draw(lossFigure(m_run, m_stages, byStep()));
    m_out << boundFigures("Loss", m_project, m_run.metric(engine::metric::kLoss));
    const bool isEven = m_flops.course.empty() && m_flops.recorded.empty(); // then both look like the first
    if (!isEven && m_unitsPerStep > 0) {
        LossAxis flop = byFlop([this](std::int64_t step) { return flopsAt(step); });
        flop.title += m_flops.isWhole ? "" : ", without that of the weights it began with";
        draw(lossFigure(m_run, m_stages, flop));
    }
    if (const auto seconds = m_run.metric(engine::metric::kSeconds); !m_flops.course.empty() && !seconds.empty()) {
        draw(lossFigure(m_run, m_stages, byTime(seconds)));
    }
    const auto* const world = std::get_if<projects::WorldData>(&m_project.data.source);
    const LossAxis axis = world != nullptr ? byEnvironmentSteps(*world) : byStep();
    if (world != nullptr) {
        draw(lossFigure(m_run, m_stages, axis));
    }
    const std::vector<std::string> names = m_run.metricNames();
    for (const engine::MetricTraits& metric : engine::plottedMetrics({names.begin(), names.end()})) {
        if (metric.name == engine::metric::kEnvironmentSteps) { // the axis
            continue;
        }
        PlotSpec spec{projects::headline(metric.title) + (metric.unit.empty() ? "" : ", " + metric.unit),
                      axis.label,
                      metric.title,
                      {{"", placed(axis, engine::shownPoints(metric.name, m_run.metric(metric.name)))}}};
        spec.yBounds = boundsOf(metric.name);
        figure(std::move(spec));
    }
}

/// Shows the effect of each stage's beginning on the loss, and the cost of its steps.
void RunPage::transitions()
{
    std::vector<double> steps;
    std::vector<double> losses;
    for (const auto& [step, loss] : m_run.metric(engine::metric::kLoss)) {
        steps.push_back(static_cast<double>(step));
        losses.push_back(loss);
    }
    std::vector<double> seconds;
    for (const auto& [step, second] : m_run.metric(engine::metric::kSeconds)) {
        seconds.push_back(second);
    }
    if (seconds.size() != steps.size()) { // a damaged record
        seconds.clear();
    }
    std::vector<double> flops;
    for (const double step : steps) {
        flops.push_back(flopsAt(static_cast<std::int64_t>(step)));
    }
    const auto rows = engine::stageTransitions(m_stages, steps, losses, seconds, flops);
    if (rows.empty()) {
        return;
    }
    m_out << "<h2>Stages</h2><div class='panel'><table><tr><th>after step</th><th>stage</th><th>steps</th>"
             "<th>loss before</th><th>after</th><th>jump</th><th>validation before</th><th>after</th>"
             "<th>s a step</th><th>share of FLOP</th><th>share of time</th></tr>";
    const auto cell = [&](double value, const char* sign = "", const char* unit = "") {
        m_out << "<td class='n'>";
        if (std::isfinite(value)) {
            m_out << sign << shortNumber(value) << unit;
        } else {
            m_out << "–";
        }
        m_out << "</td>";
    };
    for (const engine::StageTransition& row : rows) {
        m_out << "<tr><td class='n'>" << row.step << "</td><td>"
              << escapeHtml(shortened(row.name + (row.note.empty() ? "" : ": " + row.note), kMostEventText))
              << "</td><td class='n'>" << row.steps << "</td>";
        cell(row.before);
        cell(row.after);
        cell(row.jump(), row.jump() > 0 ? "+" : "");
        cell(row.validationBefore);
        cell(row.validationAfter);
        cell(row.secondsPerStep);
        cell(100 * row.shareOfFlop, "", " %");
        cell(100 * row.shareOfTime, "", " %");
        m_out << "</tr>";
    }
    m_out << "</table></div>";
}

void RunPage::gap()
{
    if (const auto gap = m_run.gap(); gap && *gap) {
        m_out << gapSection(**gap);
    } else if (!gap) {
        m_leftOut.push_back(withoutPlaces(gap.error().text(), m_info.directory));
    }
}

/// Returns the frames with the newest readable matrix's shape, because another shape is of another network.
std::vector<engine::Matrix> RunPage::framesOf(const engine::MatrixName& name)
{
    auto steps = m_run.matrixSteps(name);
    std::optional<engine::Matrix> newest;
    for (std::size_t tries = kMostFrames; tries > 0 && !newest && !steps.empty(); --tries) {
        if (auto matrix = m_run.matrix(name, steps.back())) {
            newest = std::move(*matrix);
        } else {
            steps.pop_back();
        }
    }
    if (!newest) {
        return {};
    }
    const std::size_t cells = std::max<std::size_t>(newest->values.size(), 1);
    if (cells > std::min(m_cells, m_numbers)) {
        m_leftOut.push_back("matrix " + name.text() + ": " + std::to_string(newest->rows) + " × " +
                            std::to_string(newest->columns) + " numbers are too many for a page; analyze exports them");
        return {};
    }
    const std::size_t count = std::min({steps.size(), kMostFrames, std::max<std::size_t>(m_numbers / 2 / cells, 1)});
    m_cells -= cells;
    m_numbers -= count * cells;
    std::vector<engine::Matrix> frames;
    for (std::size_t i = 0; i < count; ++i) {
        // Evenly spaced, including the first and the last.
        const std::size_t at = count < 2 ? steps.size() - 1 : i * (steps.size() - 1) / (count - 1);
        if (auto matrix = m_run.matrix(name, steps[at]); matrix && matrix->values.size() <= cells) {
            frames.push_back(std::move(*matrix));
        }
    }
    const std::size_t picked = frames.size();
    std::erase_if(frames, [last = frames.empty() ? engine::Matrix() : frames.back()](const engine::Matrix& frame) {
        return frame.rows != last.rows || frame.columns != last.columns;
    });
    if (frames.size() < picked) {
        m_leftOut.push_back("matrix " + name.text() + ": " + std::to_string(picked - frames.size()) + " of " +
                            std::to_string(picked) + " frames are of another shape than the last");
    }
    return frames;
}

/// Returns the colours of the matrices of one kind, the same for all ports, as in the window.
projects::WeightScale RunPage::scaleOf(const std::string& kind, const Heatmaps& heatmaps) const
{
    projects::FiniteRange numbers;
    for (const auto& [name, frames] : heatmaps) {
        if (name.kind != kind) {
            continue;
        }
        for (const engine::Matrix& frame : frames) {
            for (const float value : frame.values) {
                numbers.add(value);
            }
        }
    }
    return projects::weightScale(&m_project.stack().topology.wiring, engine::MatrixName{kind}.quantity(), numbers);
}

void RunPage::heatmaps()
{
    Heatmaps heatmaps;
    for (const engine::MatrixName& name : m_run.matrixNames()) {
        if (!engine::isDrawnAsCurves(inTower(name)) && !name.isOfOutputs()) {
            heatmaps.emplace_back(name, framesOf(name));
        }
    }
    if (std::ranges::any_of(heatmaps, [](const auto& heatmap) { return !heatmap.second.empty(); })) {
        m_out << "<h2>Learned shortcuts</h2><p>mix: the weight with which stack entry i reaches target j. "
                 "coefficient: the trained parameter behind it.</p>";
    }
    for (const auto& [name, frames] : heatmaps) {
        m_out << htmlHeatmap(name.text(), frames, scaleOf(name.kind, heatmaps));
    }
}

void RunPage::confusion()
{
    const engine::MatrixName name = engine::matrix::kConfusion;
    const Heatmaps heatmap{{name, framesOf(name)}};
    const std::vector<engine::Matrix>& frames = heatmap.front().second;
    if (!frames.empty()) {
        m_out << "<h2>Confusion matrix</h2><p>The examples of each class that the validation predicted as each class, "
                 "counted.</p>"
              << htmlHeatmap(name.text(), frames, scaleOf(name.kind, heatmap),
                             engine::namesOfClasses(frames.back(), m_info.classes));
    }
}

void RunPage::episodes()
{
    const engine::MatrixName name = engine::matrix::kRollout;
    const Heatmaps heatmap{{name, framesOf(name)}};
    if (!heatmap.front().second.empty()) {
        m_out << "<h2>Episodes</h2><p>Where the body was in the first episodes of the validation, without noise.</p>"
              << htmlHeatmap("episodes", heatmap.front().second, scaleOf(name.kind, heatmap));
    }
}

void RunPage::samples()
{
    if (const std::vector<engine::Matrix> frames = framesOf(engine::matrix::kSamples); !frames.empty()) {
        m_out << "<h2>Images</h2><p>Images that the model made after a validation, always from the same noise, of each "
                 "class in turn.</p>"
              << htmlPictures("samples", frames);
    }
}

void RunPage::events()
{
    const auto events = m_run.events();
    if (events.empty()) {
        return;
    }
    m_out << "<h2>Events</h2><div class='panel'><table><tr><th>step</th><th>what</th><th></th></tr>";
    const std::size_t first = events.size() - std::min(events.size(), kMostEvents);
    if (first > 0) {
        m_out << "<tr><td></td><td>…</td><td>" << first << " earlier ones</td></tr>";
    }
    for (const auto& event : std::span(events).subspan(first)) {
        m_out << "<tr><td class='n'>" << event.step << "</td><td>" << escapeHtml(textOf(event.kind)) << "</td><td>"
              << escapeHtml(shortened(event.text, kMostEventText)) << "</td></tr>";
    }
    m_out << "</table></div>";
}

void RunPage::document()
{
    m_out << "<h2>Document</h2><details class='panel'><summary>project.json as it was trained</summary><pre>"
          << escapeHtml(projects::toJson(m_project)) << "</pre></details>";
}

} // namespace

Result<std::string> reportHtml(const RunReader& run)
{
    auto info = RESIDUA_TRY(run.info());
    auto project = RESIDUA_TRY(run.project());
    return RunPage(run, std::move(info), withoutPlaces(std::move(project))).html();
}

Status writeReport(const std::filesystem::path& runDirectory, const std::filesystem::path& path)
{
    const auto run = RESIDUA_TRY(RunReader::open(runDirectory));
    const auto html = RESIDUA_TRY(reportHtml(run));
    return writeOutput(path, html);
}

} // namespace residua::report
