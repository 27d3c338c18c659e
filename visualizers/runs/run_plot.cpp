// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/runs/run_plot.h"

#include "projects/base/text.h"
#include "visualizers/plot/plot_controls.h"
#include "visualizers/plot/plot_style.h"
#include "visualizers/runs/run_csv.h"
#include "visualizers/runs/run_plot_controls.h"

#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace residua::visualizers {
namespace {

constexpr int kLow = 270;         ///< pixels: below that a plot would be the smaller part beside a table of few rows
constexpr double kRawAlpha = 0.6; ///< at which every curve's colour stands out from both themes' ground
constexpr double kRawWidth = 1.3;
constexpr double kFullWidth = 1.8;
constexpr double kBehindBand = 0.25;          ///< for a run whose mean over seeds is drawn
constexpr double kFirstColumnAlpha = 0.3;     ///< for the first of several columns
constexpr std::size_t kPointsATurn = 100'000; ///< added to averages before other events are processed

} // namespace

RunPlot::RunPlot(const ShownRuns& runs, RunCurves::Fields fields, Taker taker, Shown shown, const QString& invitation,
                 QWidget* parent)
    : QWidget(parent),
      m_shownRuns(runs),
      m_fields(std::move(fields)),
      m_taker(taker ? std::move(taker) : Taker([](RunCurves&, const RunNumbers&) {})),
      m_shown(std::move(shown)),
      m_plot(new CurvePlot(this)),
      m_controls(new RunPlotControls(this)),
      m_split(new TurningSplit(kLow, this)),
      m_empty(inviteOver(*m_plot, invitation)),
      m_seedPlot(*m_plot),
      m_boundLines(*m_plot)
{
    layOut();
    m_plot->xAxis->setLabel(m_controls->axisName());
    m_plot->yAxis->setLabel(m_shown.label);
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
        remove(key);
        refresh();
        if (m_runs.empty()) {
            m_plot->showAll(); // a later run's curves are shown whole
        }
    });
    connect(&m_shownRuns, &ShownRuns::stagesChanged, this, &RunPlot::refresh);
    connect(&m_shownRuns, &ShownRuns::frontChanged, this, [this] {
        m_stageChoice.forget();
        refresh();
    });
    connect(&m_shownRuns, &ShownRuns::labelsChanged, this, &RunPlot::refresh);
    m_plot->leaveOutIf([this](const QString& group) { return m_shownRuns.isLeftOut(group.toStdString()); });
    connect(&m_shownRuns, &ShownRuns::leftOutChanged, this, &RunPlot::refresh);
    connect(&m_shownRuns, &ShownRuns::leftOutChanged, m_plot, &CurvePlot::restyle);
}

void RunPlot::layOut()
{
    m_plot->setMinimumHeight(kLeastPlotHeight);
    m_split->addWidget(m_plot);
    connect(m_split, &TurningSplit::turned, this, &RunPlot::turned);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    column->addWidget(m_controls);
    column->addWidget(m_split, 1);
}

void RunPlot::connectControls()
{
    m_later.setSingleShot(true);
    m_later.setInterval(0);
    connect(&m_later, &QTimer::timeout, this, &RunPlot::refresh);
    connect(m_controls, &RunPlotControls::scaleChosen, m_plot, [this](AxisScale x, AxisScale y) {
        m_plot->setScaleX(x);
        m_plot->setScaleY(y);
    });
    connect(m_controls, &RunPlotControls::partsChosen, this, &RunPlot::refresh);
    connect(m_controls, &RunPlotControls::stagesChosen, this, [this](int index) {
        m_stageChoice.choose(stagedRuns(), index);
        refresh();
    });
    connect(m_controls, &RunPlotControls::windowChosen, this, [this](double points) {
        for (auto& [key, run] : m_runs) {
            run.curves.setWindow(points);
        }
        refresh();
    });
    connect(m_controls, &RunPlotControls::axisChosen, this, [this](XAxis axis) {
        m_plot->xAxis->setLabel(m_controls->axisName());
        for (auto& [key, run] : m_runs) {
            run.curves.setAxis(axis);
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
    m_plot->yAxis->setLabel(m_shown.label);
    for (Item& run : m_runs) {
        undraw(run.second);
        draw(run);
    }
    refresh();
    m_plot->showAll();
}

void RunPlot::begin(const std::string& key)
{
    const ShownRuns::Run& run = *m_shownRuns.find(key);
    if (!run.overlaid) {
        return;
    }
    remove(key);
    Item& item = *m_runs.try_emplace(key, m_fields).first;
    RunCurves& curves = item.second.curves;
    curves.setAxis(xAxis());
    curves.setWindow(m_controls->window());
    if (run.facts.flops.perUnit > 0) {
        curves.setFlops(run.facts.flops);
    }
    draw(item);
}

void RunPlot::take(const std::string& key, const RunNumbers& numbers)
{
    if (const auto found = m_runs.find(key); found != m_runs.end()) {
        found->second.curves.append(numbers.steps);
        found->second.curves.appendMetrics(numbers.metrics);
        m_taker(found->second.curves, numbers);
        refresh();
    }
}

void RunPlot::draw(Item& run)
{
    Drawn& drawn = run.second;
    for (const CurveName& name : namesOf(drawn)) {
        const Series& series = drawn.curves.series(name);
        drawn.lines.push_back({name, m_plot->add(series.raw(), {}), m_plot->add(series.smooth(), {})});
    }
    for (const Beside& beside : m_shown.beside) {
        drawn.beside.push_back(m_plot->add(drawn.curves.series(beside.metric).raw(), {}));
    }
    style(run);
}

void RunPlot::undraw(Drawn& run)
{
    for (const Line& line : run.lines) {
        m_plot->remove(line.raw);
        m_plot->remove(line.smooth);
    }
    run.lines.clear();
    for (const CurvePlot::Id beside : run.beside) {
        m_plot->remove(beside);
    }
    run.beside.clear();
}

/// Returns the common style of all curves of a run.
CurvePlot::Look RunPlot::lookOf(const Item& run) const
{
    const auto place = std::ranges::find(m_shownRuns.runs(), run.first, &ShownRuns::Run::key);
    return {.group = QString::fromStdString(run.first),
            .name = m_shownRuns.labelOf(run.first),
            .place = static_cast<std::size_t>(place - m_shownRuns.runs().begin()),
            .colour = resources::curveColour(about(run).colour, m_theme)};
}

void RunPlot::style(const Item& run) const
{
    const Drawn& drawn = run.second;
    for (std::size_t line = 0; line < drawn.lines.size(); ++line) {
        styleLine(run, line);
    }
    for (std::size_t index = 0; index < drawn.beside.size(); ++index) {
        styleBeside(run, index);
    }
}

void RunPlot::styleBeside(const Item& run, std::size_t index) const
{
    const Beside& beside = m_shown.beside[index];
    CurvePlot::Look look = inBand(run) ? CurvePlot::Look{.alpha = 0} : lookOf(run);
    if (!inBand(run)) {
        look.number = look.reading = beside.title;
        look.width = 1.2;
        look.line = beside.line;
        look.marks = true;
    }
    m_plot->setLook(run.second.beside[index], look);
}

/// Columns gain opacity with their number. The first, middle and last one have values beside the crosshair.
void RunPlot::styleLine(const Item& run, std::size_t line) const
{
    const std::vector<Line>& lines = run.second.lines;
    if (inBand(run)) {
        CurvePlot::Look behind{.group = QString::fromStdString(about(run).facts.study)}; // hidden with its band
        behind.colour = resources::curveColour(about(run).colour, m_theme);
        behind.alpha = kBehindBand;
        m_plot->setLook(lines[line].raw, m_controls->smooths() ? CurvePlot::Look{.alpha = 0} : behind);
        m_plot->setLook(lines[line].smooth, behind);
        return;
    }
    const std::size_t last = lines.size() - 1;
    const double depth = last > 0 ? static_cast<double>(line) / static_cast<double>(last) : 1;
    const bool read = line == 0 || line == last || line == last / 2;
    CurvePlot::Look full = lookOf(run);
    full.number = full.reading = m_shown.title;
    if (byColumn() && last > 0) {
        full.reading = read ? tr("%1 %2").arg(m_shown.title).arg(columnOf(lines[line].name)) : QString();
    }
    full.alpha = kFirstColumnAlpha + (1 - kFirstColumnAlpha) * depth;
    full.width = kFullWidth;
    CurvePlot::Look faint = full;
    faint.alpha *= kRawAlpha;
    faint.width = kRawWidth;
    faint.reading = byColumn() ? QString() : full.reading; // for columns, one number each
    m_plot->setLook(lines[line].raw, m_controls->smooths() ? faint : full);
    full.reading = byColumn() ? full.reading : tr("smoothed");
    m_plot->setLook(lines[line].smooth, m_controls->smooths() ? full : CurvePlot::Look{});
}

void RunPlot::remove(const std::string& key)
{
    if (const auto found = m_runs.find(key); found != m_runs.end()) {
        undraw(found->second);
        m_runs.erase(found);
        showSeeds(); // removes it from its band
    }
}

/// Extends the averages of very long curves in several turns of the event loop.
void RunPlot::catchUp()
{
    std::size_t left = kPointsATurn;
    for (auto& [key, run] : m_runs) {
        for (const Line& line : run.lines) {
            left -= run.curves.series(line.name).catchUp(left);
        }
    }
    if (left == 0) {
        m_later.start();
    }
}

StageChoice::Staged RunPlot::stagedRuns() const
{
    StageChoice::Staged staged;
    for (const ShownRuns::Run& run : m_shownRuns.runs()) {
        if (!run.stages.empty() && m_runs.contains(run.key) && !m_shownRuns.isLeftOut(run.key)) {
            staged.push_back(&run);
        }
    }
    return staged;
}

QString RunPlot::stagedName() const
{
    const ShownRuns::Run* run = staged();
    return run != nullptr && m_runs.size() > 1 ? m_shownRuns.labelOf(run->key) : QString();
}

void RunPlot::offerStages()
{
    const StageChoice::Staged all = stagedRuns();
    QStringList names;
    for (const ShownRuns::Run* run : all) {
        names << m_shownRuns.labelOf(run->key);
    }
    const auto shown = std::ranges::find(all, staged()) - all.begin(); // the end means no stages
    m_controls->offerStages(names, static_cast<int>(shown));
}

void RunPlot::showBands()
{
    offerStages();
    std::vector<CurvePlot::Band> bands;
    if (const ShownRuns::Run* run = staged()) {
        for (const engine::StageRecord& stage : run->stages) {
            bands.push_back({m_runs.at(run->key).curves.xOf(stage.step), QString::fromStdString(stage.name)});
        }
    }
    const QString name = stagedName();
    m_plot->setBands(std::move(bands), name.isEmpty() ? QString() : tr("stages of %1").arg(name));
}

std::vector<engine::StageTransition> RunPlot::transitions() const
{
    const ShownRuns::Run* run = staged();
    const auto* const metric = std::get_if<std::string>(&m_shown.number);
    if (run == nullptr || metric == nullptr) {
        return {};
    }
    const Curve& curve = m_runs.at(run->key).curves.at(*metric).raw();
    return engine::stageTransitions(run->stages, curve.positions(0), curve.values(), curve.positions(2),
                                    curve.positions(3));
}

std::vector<SeedPlot::Study> RunPlot::studies() const
{
    std::vector<SeedPlot::Study> studies;
    for (const ShownRuns::Run& run : m_shownRuns.runs()) {
        const auto drawn = m_runs.find(run.key);
        if (drawn == m_runs.end() || run.facts.study.empty() || byColumn() || m_shownRuns.isLeftOut(run.key)) {
            continue;
        }
        auto study = std::ranges::find(studies, run.facts.study, &SeedPlot::Study::key);
        if (study == studies.end()) {
            studies.push_back({.key = run.facts.study,
                               .names = {},
                               .curves = {},
                               .colour = run.colour,
                               .place = lookOf(*drawn).place,
                               .flopPerUnit = run.facts.flops.perUnit > 0 ? run.facts.flops.perUnit : 1});
            study = std::prev(studies.end());
        }
        study->curves.push_back(&drawn->second.curves);
        study->names << run.facts.name;
    }
    std::erase_if(studies, [](const SeedPlot::Study& study) { return study.curves.size() < 2; });
    return studies;
}

bool RunPlot::inBand(const Item& run) const
{
    const std::string& study = about(run).facts.study;
    if (!m_controls->seedsAsBand() || byColumn() || study.empty() || m_shownRuns.isLeftOut(run.first)) {
        return false;
    }
    return std::ranges::count_if(m_runs, [&](const Item& other) {
               return about(other).facts.study == study && !m_shownRuns.isLeftOut(other.first);
           }) > 1;
}

/// The caveats of a theorem are on the figure, so that every picture includes them.
void RunPlot::showBounds()
{
    std::vector<BoundLines::Bounded> bounded;
    for (const Item& run : m_runs) {
        if (m_shown.bounded && !about(run).facts.bounds.empty()) {
            bounded.push_back({lookOf(run), about(run).facts.bounds});
        }
    }
    const bool byStep = xAxis() == XAxis::Step;
    m_controls->offerBounds(!bounded.empty() && byStep);
    if (!m_controls->bounds() || !byStep) {
        bounded.clear();
    }
    m_boundLines.show(bounded);
    m_controls->explainBounds(m_boundLines.claims());
    QStringList notes;
    for (const Item& run : m_runs) {
        if (xAxis() == XAxis::Flop && !about(run).facts.flops.isWhole) {
            notes << tr("%1: without the FLOP of the weights that it began with.").arg(m_shownRuns.labelOf(run.first));
        }
    }
    m_plot->setNote((notes << m_boundLines.caveats()).join(QLatin1Char(' ')).trimmed());
}

void RunPlot::showSeeds()
{
    std::vector<SeedPlot::Study> bands = studies();
    m_controls->offerSeeds(!bands.empty());
    if (!m_controls->seedsAsBand()) {
        bands.clear();
    }
    std::vector<SeedPlot::Number> numbers;
    if (const auto* const metric = std::get_if<std::string>(&m_shown.number)) {
        numbers.push_back({*metric, m_shown.title, false});
    }
    for (const Beside& beside : m_shown.beside) {
        numbers.push_back({beside.metric, beside.title, true, beside.line});
    }
    m_seedPlot.show(bands, numbers, xAxis(), m_controls->window(), m_theme);
}

void RunPlot::refresh()
{
    for (Item& run : m_runs) {
        if (run.second.lines.size() != namesOf(run.second).size()) { // its columns are known now
            undraw(run.second);
            draw(run);
        }
        style(run);
    }
    catchUp();
    showSeeds();
    showBounds();
    m_empty->setVisible(m_plot->isEmpty());
    showBands();
    m_plot->refresh();
    emit refreshed();
}

void RunPlot::setTheme(resources::Theme theme)
{
    m_theme = theme;
    m_plot->setTheme(theme);
    setMuted(*m_empty, theme);
    refresh();
}

std::vector<RunPlot::Beside> RunPlot::besideInCsv() const
{
    std::vector<Beside> all;
    for (const Beside& beside : m_shown.beside) {
        const bool recorded = std::ranges::any_of(
            m_runs, [&](const Item& run) { return run.second.curves.at(beside.metric).raw().size() > 0; });
        if (all.empty() || recorded) {
            all.push_back(beside);
        }
    }
    return all;
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
    columns << (byColumn() ? m_shown.label : m_shown.title) << tr("smoothed");
    const std::vector<Beside> besides = besideInCsv();
    for (const Beside& beside : besides) {
        columns << beside.title;
    }
    std::vector<RunRows> rows;
    for (const auto& [key, run] : m_runs) {
        if (m_shownRuns.isLeftOut(key)) {
            continue;
        }
        const QString name = m_shownRuns.labelOf(key);
        std::vector<const Series*> beside;
        for (const Beside& shown : besides) {
            beside.push_back(&run.curves.at(shown.metric));
        }
        for (const Line& line : run.lines) {
            const QString column = byColumn() ? QLatin1Char(',') + QString::number(columnOf(line.name)) : QString();
            rows.emplace_back(csvQuoted(name) + column, run.curves.at(line.name), beside);
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
