// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/runs/run_plot.h"

#include "engine/base/api/row_curves.h"
#include "engine/base/api/values.h"
#include "projects/base/ranges.h"
#include "projects/base/text.h"
#include "visualizers/plot/arrange.h"
#include "visualizers/plot/plot_style.h"
#include "visualizers/runs/run_plot_controls.h"

#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

namespace residua::visualizers {
namespace {

constexpr int kLow = 270;         ///< pixels: below that a plot would be the smaller part beside a table of few rows
constexpr double kRawAlpha = 0.6; ///< at which every curve's colour stands out from both themes' ground
constexpr double kRawWidth = 1.3;
constexpr double kFullWidth = 1.8;
constexpr double kBehindBand = 0.25; ///< for a run whose mean over seeds is drawn
constexpr double kBesideWidth = 1.2;
constexpr double kBoundAlpha = 0.75;
constexpr double kBoundWidth = 1.3;
constexpr double kFirstColumnAlpha = 0.3;     ///< for the first of several columns
constexpr std::size_t kPointsATurn = 100'000; ///< added to averages before other events are processed

} // namespace

RunPlot::RunPlot(ShownRuns& runs, RunCurves::Fields fields, Taker taker, Shown shown, const QString& invitation,
                 QWidget* parent)
    : QWidget(parent),
      m_shownRuns(runs),
      m_fields(std::move(fields)),
      m_taker(taker ? std::move(taker) : Taker([](RunCurves&, const engine::Progress&) {})),
      m_shown(std::move(shown)),
      m_plot(new CurvePlot(this)),
      m_controls(new RunPlotControls(this)),
      m_split(new TurningSplit(kLow, this)),
      m_empty(inviteOver(*m_plot, invitation))
{
    layOut();
    m_plot->setXText([this](double x) {
        const QString number = xAxis() == XAxis::Step ? QString::fromStdString(groupedText(std::llround(std::floor(x))))
                                                      : QString::number(x, 'g', 6);
        return m_controls->axisName() + QLatin1Char(' ') + number;
    });
    connectControls();
    follow();
    refresh();
}

void RunPlot::follow()
{
    connect(&m_shownRuns, &ShownRuns::begun, this, &RunPlot::begin);
    connect(&m_shownRuns, &ShownRuns::added, this, &RunPlot::take);
    connect(&m_shownRuns, &ShownRuns::overlayRemoved, this, [this](const std::string& key) {
        const auto removed = m_runs.extract(key); // the plot points to it until the refresh
        refresh();
        if (m_runs.empty()) {
            m_plot->showAll(); // a later run's curves are shown whole
        }
    });
    connect(&m_shownRuns, &ShownRuns::stagesChanged, this, &RunPlot::refresh);
    connect(&m_shownRuns, &ShownRuns::frontChanged, this, [this] {
        m_stagesOf.clear();
        refresh();
    });
    connect(&m_shownRuns, &ShownRuns::labelsChanged, this, &RunPlot::refresh);
    connect(&m_shownRuns, &ShownRuns::looksChanged, this, &RunPlot::refresh);
    connect(&m_shownRuns, &ShownRuns::baselineChanged, this, [this] {
        refresh();
        m_plot->showAll();
    });
    m_plot->leaveOutIf([this](const std::string& group) { return m_shownRuns.isLeftOut(group); });
    connect(&m_shownRuns, &ShownRuns::leftOutChanged, this, &RunPlot::refresh);
}

void RunPlot::layOut()
{
    m_plot->setMinimumHeight(kLeastPlotHeight);
    m_split->addWidget(m_plot);
    connect(m_split, &TurningSplit::turned, this, &RunPlot::turned);
    makeColumn(this, {QMargins(), 2}, {m_controls, {m_split, 1}});
}

void RunPlot::connectControls()
{
    m_later.setSingleShot(true);
    m_later.setInterval(0);
    connect(&m_later, &QTimer::timeout, this, &RunPlot::refresh);
    connect(m_controls, &RunPlotControls::scaleChosen, m_plot, [this](AxisScale x, AxisScale y) {
        m_scaleX = x;
        m_scaleY = y;
        showCurves();
        m_plot->showAll();
    });
    connect(m_controls, &RunPlotControls::partsChosen, this, &RunPlot::refresh);
    connect(m_controls, &RunPlotControls::baselineChosen, this, &RunPlot::chooseBaseline);
    connect(m_controls, &RunPlotControls::stagesChosen, this, [this](int index) {
        const auto runs = stagedRuns();
        m_hidesStages = static_cast<std::size_t>(index) >= runs.size();
        m_stagesOf = m_hidesStages ? std::string() : runs[static_cast<std::size_t>(index)]->key;
        refresh();
    });
    connect(m_controls, &RunPlotControls::windowChosen, this, [this](double points) {
        for (auto& [key, run] : m_runs) {
            run.setWindow(points);
        }
        refresh();
    });
    connect(m_controls, &RunPlotControls::axisChosen, this, [this](XAxis axis) {
        for (auto& [key, run] : m_runs) {
            run.setAxis(axis);
        }
        refresh();
        m_plot->showAll();
    });
}

XAxis RunPlot::xAxis() const
{
    return m_controls->axis();
}

void RunPlot::putFirst(QWidget* control)
{
    m_controls->putFirst(control, m_plot);
}

void RunPlot::putBelow(QWidget* widget)
{
    m_split->addWidget(widget);
    m_split->setShares({3000, 2000}, {3000, 2000});
}

void RunPlot::setShown(Shown shown)
{
    m_shown = std::move(shown);
    refresh();
    m_plot->showAll();
}

void RunPlot::begin(const std::string& key)
{
    const ShownRuns::Run& run = *m_shownRuns.find(key);
    if (!run.overlaid) {
        return;
    }
    const auto before = m_runs.extract(key); // the plot points to it until it shows the new one
    RunCurves& curves = m_runs.try_emplace(key, m_fields).first->second;
    curves.setAxis(xAxis());
    curves.setWindow(m_controls->window());
    if (run.facts.flops.perUnit > 0) {
        curves.setFlops(run.facts.flops);
    }
    curves.setWorld(run.facts.world);
    showCurves();
}

void RunPlot::take(const std::string& key, const engine::Progress& numbers)
{
    if (const auto found = m_runs.find(key); found != m_runs.end()) {
        found->second.append(numbers);
        m_taker(found->second, numbers);
        refresh();
    }
}

PlotCurve RunPlot::curveOf(const std::string& key) const
{
    const auto run = std::ranges::find(m_shownRuns.runs(), key, &ShownRuns::Run::key);
    return {.name = m_shownRuns.labelOf(key).toStdString(),
            .colour = run->colour,
            .group = key,
            .place = static_cast<std::size_t>(run - m_shownRuns.runs().begin())};
}

void RunPlot::addCurves(PlotSpec& spec, Item& run) const
{
    const std::vector<CurveName> names = namesOf(run.second);
    for (std::size_t line = 0; line < names.size(); ++line) {
        addLine(spec, run, names, line);
    }
    for (const Beside& beside : m_shown.beside) {
        PlotCurve curve = inBand(run) ? PlotCurve{.alpha = 0} : curveOf(run.first);
        curve.live = &run.second.series(beside.metric).raw();
        if (!inBand(run)) {
            curve.number = curve.reading = beside.title.toStdString();
            curve.width = kBesideWidth;
            curve.stroke = beside.stroke;
            curve.marks = true;
        }
        spec.curves.push_back(std::move(curve));
    }
}

/// Columns gain opacity with their number. The first, middle and last one have values beside the crosshair.
void RunPlot::addLine(PlotSpec& spec, Item& run, const std::vector<CurveName>& names, std::size_t line) const
{
    const Series& series = run.second.series(names[line]);
    const bool smooths = m_controls->smooths();
    PlotCurve full = inBand(run) ? PlotCurve{.colour = about(run).colour} : curveOf(run.first);
    PlotCurve raw;
    if (inBand(run)) {
        full.group = m_shownRuns.groupOf(run.first); // hidden with its band
        full.alpha = kBehindBand;
        raw = smooths ? PlotCurve{.alpha = 0} : full;
    } else {
        const std::size_t last = names.size() - 1;
        const double depth = last > 0 ? static_cast<double>(line) / static_cast<double>(last) : 1;
        full.number = full.reading = m_shown.title.toStdString();
        if (byColumn() && last > 0) {
            const bool read = line == 0 || line == last || line == last / 2;
            full.reading = read ? tr("%1 %2").arg(m_shown.title, columnName(run.first, names[line])).toStdString() : "";
        }
        full.alpha = kFirstColumnAlpha + (1 - kFirstColumnAlpha) * depth;
        full.width = kFullWidth;
        raw = full;
        if (smooths) {
            raw.alpha *= kRawAlpha;
            raw.width = kRawWidth;
            raw.reading = byColumn() ? "" : full.reading; // for columns, one number each
        }
        full.reading = byColumn() ? full.reading : tr("smoothed").toStdString();
    }
    raw.live = &series.raw();
    spec.curves.push_back(std::move(raw));
    if (smooths) {
        full.live = &series.smooth();
        spec.curves.push_back(std::move(full));
    }
}

/// Extends the averages of very long curves in several turns of the event loop.
void RunPlot::catchUp()
{
    std::size_t left = kPointsATurn;
    for (auto& [key, run] : m_runs) {
        for (const CurveName& name : namesOf(run)) {
            left -= run.series(name).catchUp(left);
        }
    }
    if (left == 0) {
        m_later.start();
    }
}

std::vector<const ShownRuns::Run*> RunPlot::stagedRuns() const
{
    std::vector<const ShownRuns::Run*> staged;
    for (const ShownRuns::Run& run : m_shownRuns.runs()) {
        if (!run.stages.empty() && m_runs.contains(run.key) && !m_shownRuns.isLeftOut(run.key)) {
            staged.push_back(&run);
        }
    }
    return staged;
}

const ShownRuns::Run* RunPlot::staged() const
{
    const std::vector<const ShownRuns::Run*> runs = stagedRuns();
    if (runs.empty() || m_hidesStages) {
        return nullptr;
    }
    for (const std::string& wanted : {m_stagesOf, m_shownRuns.front()}) {
        if (const auto found = std::ranges::find(runs, wanted, &ShownRuns::Run::key); found != runs.end()) {
            return *found;
        }
    }
    return runs.front();
}

QString RunPlot::stagedName() const
{
    const ShownRuns::Run* run = staged();
    return run != nullptr && m_runs.size() > 1 ? m_shownRuns.labelOf(run->key) : QString();
}

void RunPlot::offerStages()
{
    const std::vector<const ShownRuns::Run*> all = stagedRuns();
    QStringList names =
        mapped<QStringList>(all, [&](const ShownRuns::Run* run) { return m_shownRuns.labelOf(run->key); });
    const auto shown = std::ranges::find(all, staged()) - all.begin(); // the end means no stages
    m_controls->offerStages(names, static_cast<int>(shown));
}

void RunPlot::addBands(PlotSpec& spec)
{
    offerStages();
    if (const ShownRuns::Run* run = staged()) {
        for (const engine::StageRecord& stage : run->stages) {
            spec.bands.push_back({m_runs.at(run->key).xOf(stage.step), stage.name});
        }
    }
    const QString name = stagedName();
    spec.bandTitle = name.isEmpty() ? "" : tr("stages of %1").arg(name).toStdString();
}

std::vector<engine::StageTransition> RunPlot::transitions() const
{
    const ShownRuns::Run* run = staged();
    const auto* const metric = std::get_if<std::string>(&m_shown.number);
    if (run == nullptr || metric == nullptr) {
        return {};
    }
    const Curve& curve = m_runs.at(run->key).at(*metric).raw();
    return engine::stageTransitions(run->stages, curve.positions(0), curve.values(), curve.positions(2),
                                    curve.positions(3));
}

/// Adds the theorems' bounds on the losses, dashed in the colour of their run. Every picture includes their caveats.
void RunPlot::addBounds(PlotSpec& spec) const
{
    const bool byStep = xAxis() == XAxis::Step;
    const bool any = m_shown.bounded &&
                     std::ranges::any_of(m_runs, [this](const Item& run) { return !about(run).facts.bounds.empty(); });
    m_controls->offerBounds(any && byStep);
    QStringList claims;
    QStringList caveats;
    QStringList notes;
    for (const Item& run : m_runs) {
        for (const resources::BoundCurve& bound : about(run).facts.bounds) {
            if (!m_shown.bounded || !byStep || !m_controls->bounds()) {
                continue;
            }
            PlotCurve& curve = spec.curves.emplace_back(curveOf(run.first));
            curve.points = bound.points;
            curve.number = curve.reading = bound.name;
            curve.alpha = kBoundAlpha;
            curve.width = kBoundWidth;
            curve.stroke = Stroke::DashDotted;
            curve.fits = false;
            claims << QString::fromStdString(bound.name + ": " + bound.claim);
            caveats << QString::fromStdString(bound.caveat);
        }
        if (xAxis() == XAxis::Flop && !about(run).facts.flops.isWhole) {
            notes << tr("%1: without the FLOP of the weights that it began with.").arg(m_shownRuns.labelOf(run.first));
        }
    }
    claims.removeDuplicates();
    caveats.removeDuplicates();
    m_controls->explainBounds(claims.join(QLatin1Char('\n')));
    spec.note = (notes << caveats).join(QLatin1Char(' ')).trimmed().toStdString();
}

void RunPlot::showCurves()
{
    PlotSpec spec{.xLabel = m_controls->axisName().toStdString(),
                  .yLabel = m_shown.label.toStdString(),
                  .yScale = m_scaleY,
                  .xScale = m_scaleX};
    const auto* const metric = std::get_if<std::string>(&m_shown.number);
    if (metric != nullptr && engine::isShare(*metric)) {
        spec.yBounds = resources::kShares;
    }
    const bool relative = !baseline().empty();
    if (relative) {
        spec.yLabel = tr("%1 − %2").arg(m_shown.label, m_shownRuns.baselineLabel()).toStdString();
        spec.yScale = m_scaleY == AxisScale::Logarithmic ? AxisScale::SymmetricLogarithmic : m_scaleY;
        spec.yBounds.reset();
    }
    m_inBand.clear();
    for (const Unit& unit : units(m_controls->seedsAsBand())) {
        if (unit.size() > 1) {
            std::ranges::transform(unit, std::inserter(m_inBand, m_inBand.end()), &ShownRuns::Run::key);
        }
    }
    for (const ShownRuns::Run& run : m_shownRuns.runs()) {
        if (const auto found = m_runs.find(run.key); found != m_runs.end() && !relative) {
            addCurves(spec, *found);
        }
    }
    offerBaselines();
    const std::set<BandKey> means = addMeans(spec);
    if (relative) {
        noteUnpaired(spec);
    } else {
        addBounds(spec);
    }
    addBands(spec);
    m_plot->setSpec(std::move(spec));
    std::erase_if(m_bands, [&](const auto& band) { return !means.contains(band.first); }); // not drawn any more
    m_empty->setVisible(m_plot->isEmpty());
}

void RunPlot::refresh()
{
    if (!m_runs.empty()) {
        m_controls->offerEnvironmentSteps(
            std::ranges::any_of(m_runs, [this](const Item& run) { return about(run).facts.world.has_value(); }));
    }
    catchUp();
    showCurves();
    emit refreshed();
}

void RunPlot::setTheme(resources::Theme theme)
{
    m_plot->setTheme(theme);
    setMuted(*m_empty, theme);
}

std::vector<RunPlot::Beside> RunPlot::besideInCsv() const
{
    std::vector<Beside> all;
    for (const Beside& beside : m_shown.beside) {
        const bool recorded =
            std::ranges::any_of(m_runs, [&](const Item& run) { return run.second.at(beside.metric).raw().size() > 0; });
        if (all.empty() || recorded) {
            all.push_back(beside);
        }
    }
    return all;
}

QString RunPlot::columnName(const std::string& key, const CurveName& curve) const
{
    const QStringList& layers = m_shownRuns.find(key)->facts.layerNames.layers;
    const std::string matrix = std::get<CurveRow>(m_shown.number).matrix.text();
    const bool isLayer = std::ranges::any_of(engine::kRowCurves, [&matrix](const engine::RowCurves& row) {
        return row.matrix == matrix && std::string_view(row.column) == "layer";
    });
    const std::int64_t column = columnOf(curve);
    return isLayer ? layers.value(column - 1, QString::number(column)) : QString::number(column);
}

CsvText RunPlot::csvText() const
{
    QStringList columns{QStringLiteral("run")};
    if (byColumn()) {
        columns << m_shown.title;
    }
    columns << QStringLiteral("step");
    if (xAxis() != XAxis::Step) {
        columns << m_controls->axisName();
    }
    const bool relative = !baseline().empty();
    columns << (relative     ? tr("%1 − %2").arg(m_shown.title, m_shownRuns.baselineLabel())
                : byColumn() ? m_shown.label
                             : m_shown.title)
            << tr("smoothed");
    const std::vector<Beside> besides = relative ? std::vector<Beside>() : besideInCsv();
    for (const Beside& beside : besides) {
        columns << beside.title;
    }
    std::vector<RunRows> rows;
    if (relative) {
        columns << tr("low") << tr("high");
        rows = rowsOfDifferences();
    }
    for (const auto& [key, run] : m_runs) {
        if (m_shownRuns.isLeftOut(key) || relative) {
            continue;
        }
        const QString name = m_shownRuns.labelOf(key);
        auto beside =
            mapped<std::vector<const Series*>>(besides, [&](const Beside& shown) { return &run.at(shown.metric); });
        for (const CurveName& curve : namesOf(run)) {
            const QString column = byColumn() ? QLatin1Char(',') + columnName(key, curve) : QString();
            rows.emplace_back(csvQuoted(name) + column, run.at(curve), beside);
        }
    }
    return [header = columns.join(QLatin1Char(',')), rows = std::move(rows)](QTextStream& out) {
        out << header << '\n';
        for (const RunRows& run : rows) {
            run.write(out);
        }
    };
}

} // namespace residua::visualizers
