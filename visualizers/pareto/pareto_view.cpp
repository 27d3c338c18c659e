// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/pareto/pareto_view.h"

#include "engine/base/api/values.h"
#include "resources/axis.h"
#include "visualizers/pareto/front_names.h"
#include "visualizers/pareto/pareto_points.h"
#include "visualizers/plot/arrange.h"
#include "visualizers/plot/plot.h"
#include "visualizers/plot/plot_controls.h"
#include "visualizers/plot/plot_legend.h"
#include "visualizers/plot/plot_style.h"
#include "visualizers/plot/short_ticker.h"
#include "visualizers/runs/shown_runs.h"

#include <QComboBox>
#include <QKeyEvent>
#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

namespace residua::visualizers {
namespace {

constexpr double kReach = 14; ///< pixels around a point within which the pointer selects it
constexpr double kMargin = 0.06;
constexpr std::size_t kNamedPoints = 24; ///< the most points with names beside them
constexpr double kPointSize = 8;
constexpr double kMemberSize = 3.5;
constexpr double kMemberAlpha = 0.55;
constexpr double kErrorWidth = 1.3;

using Cost = double ParetoRun::*;
constexpr std::array<Cost, 4> kCosts{&ParetoRun::parameters, &ParetoRun::flops, &ParetoRun::seconds,
                                     &ParetoRun::passFlops};

struct Range {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
    void take(double value)
    {
        low = std::min(low, value);
        high = std::max(high, value);
    }
};

} // namespace

class ParetoView::Impl {
public:
    Impl(ShownRuns& shown, ParetoView* of);

    void show();
    void retheme();
    void hover(QPointF position);
    void choose(std::size_t point);
    void markChosen();
    void step(int direction);
    /// Resets the user's zoom.
    void showAll();

    ParetoView* const view;
    Plot* plot = new Plot(view);
    QComboBox* cost = new PlotChoice(view);
    QComboBox* scale = new PlotChoice(view);
    QComboBox* measure = new PlotChoice(view);
    QLabel* empty = inviteOver(*plot, {});
    std::vector<ParetoRun> runs;
    resources::Theme theme = resources::Theme::Light;

    [[nodiscard]] double costOf(const ParetoRun& run) const
    {
        return run.*kCosts[static_cast<std::size_t>(cost->currentIndex())];
    }
    /// Returns NaN if the run has no such loss yet: losses of training and of validation never share an axis.
    [[nodiscard]] double lossOf(const ParetoRun& run) const
    {
        return measure->currentIndex() == 0 ? run.validationLoss : run.loss;
    }
    [[nodiscard]] bool isLeftOut(const ParetoRun& run) const { return m_shown.isLeftOut(run.key.toStdString()); }
    [[nodiscard]] projects::Judge judge() const { return runs.empty() ? projects::Judge() : runs.front().judge; }
    [[nodiscard]] std::vector<ParetoPoint> currentPoints() const;
    /// Returns the label of the run's group, and whether the group's point is on the front.
    [[nodiscard]] std::pair<QString, bool> standingOf(std::size_t run) const;

private:
    void layOut();
    void connectControls();
    void setScales();
    void fit();
    void drawPoints();
    void drawLine();
    void drawPoint(const ParetoPoint& point);
    QCPGraph* addDots(const QCPScatterStyle& style);
    [[nodiscard]] QColor inkOf(const ParetoPoint& point) const
    {
        return toQColor(point.colour ? resources::curveColour(*point.colour, theme)
                                     : resources::themeColours(theme).muted);
    }
    void drawNames();
    void fillLegend();
    void hideName();
    [[nodiscard]] std::ptrdiff_t pointAt(QPointF position) const;
    [[nodiscard]] QString textOf(const ParetoPoint& point) const;

    [[nodiscard]] bool isChosen(const ParetoPoint& point) const
    {
        return std::ranges::any_of(point.runs,
                                   [this](std::size_t run) { return runs[run].key.toStdString() == m_shown.chosen(); });
    }

    ShownRuns& m_shown;
    std::vector<ParetoPoint> m_points;
    std::vector<std::size_t> m_front;           ///< indices of points, by cost
    std::vector<QCPAbstractPlottable*> m_drawn; ///< points, their bars and their runs
    QCPCurve* m_line = new QCPCurve(plot->xAxis, plot->yAxis);
    QCPGraph* m_chosen = plot->addGraph();
    QCPItemText* m_name = new QCPItemText(plot);
    std::optional<QPointF> m_pointer; ///< over the plot, whose runs may change below it
    FrontNames m_names{*plot};
};

ParetoView::Impl::Impl(ShownRuns& shown, ParetoView* of) : view(of), m_shown(shown)
{
    m_chosen->setName(QStringLiteral("chosen"));
    m_chosen->setLineStyle(QCPGraph::lsNone);
    plot->setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
    new PlotLegend(*plot); // the plot has it
    m_name->setLayer(QStringLiteral("overlay"));
    m_name->setVisible(false);
    m_name->setPadding(QMargins(6, 4, 6, 4));
    m_name->setTextAlignment(Qt::AlignLeft);
    m_name->position->setTypeX(QCPItemPosition::ptAbsolute);
    m_name->position->setTypeY(QCPItemPosition::ptAbsolute);
    layOut();
    connectControls();
    retheme();
    show();
}

void ParetoView::Impl::layOut()
{
    view->setAccessibleName(tr("Pareto front"));
    plot->setAccessibleName(tr("Plot of loss against cost"));
    plot->setFocusPolicy(Qt::StrongFocus);
    plot->setAttribute(Qt::WA_NoMousePropagation, false); // the menu is the view's
    plot->setMouseTracking(true);
    plot->setMinimumHeight(kLeastPlotHeight);
    cost->addItems({tr("by parameters"), tr("by FLOP"), tr("by time (s)"), tr("by FLOP of a pass")});
    cost->setCurrentIndex(1);
    setNames(*cost, "cost", tr("Cost"));
    scale->addItems({tr("log x"), tr("linear"), tr("log x and y")});
    setNames(*scale, "scale", tr("Scale"));
    measure->addItems({tr("validation loss"), tr("training loss")});
    setNames(*measure, "measure", tr("Loss"));
    auto* controls = new ControlRows;
    for (QComboBox* box : {measure, cost, scale}) {
        controls->addWidget(box);
    }
    makeColumn(view, {QMargins(), 2}, {controls, {plot, 1}});
}

void ParetoView::Impl::connectControls()
{
    for (QComboBox* box : {cost, scale, measure}) {
        QObject::connect(box, &QComboBox::currentIndexChanged, view, [this] { showAll(); });
    }
    QObject::connect(plot, &QCustomPlot::mouseDoubleClick, view, [this] { showAll(); });
    QObject::connect(plot, &Plot::wholeWanted, view, [this] { showAll(); });
    QObject::connect(plot, &QCustomPlot::mouseWheel, view, [this] { plot->setFollowing(false); });
    QObject::connect(plot, &QCustomPlot::mouseMove, view, [this](QMouseEvent* event) {
        m_pointer = event->position();
        hover(*m_pointer);
    });
    QObject::connect(plot, &Plot::pointerLeft, view, [this] {
        m_pointer.reset();
        hideName();
        replotSoon(*plot);
    });
    QObject::connect(plot, &QCustomPlot::mousePress, view, [this](QMouseEvent* event) {
        const std::ptrdiff_t point = pointAt(event->position());
        if (event->button() == Qt::LeftButton && point >= 0) {
            choose(static_cast<std::size_t>(point));
        }
    });
}

std::vector<ParetoPoint> ParetoView::Impl::currentPoints() const
{
    const Cost by = kCosts[static_cast<std::size_t>(cost->currentIndex())];
    const bool needsWhole = by == &ParetoRun::flops || by == &ParetoRun::seconds;
    return paretoPoints(runs, m_shown,
                        {.cost = [this](const ParetoRun& run) { return costOf(run); },
                         .loss = [this](const ParetoRun& run) { return lossOf(run); },
                         .isApart = [needsWhole](const ParetoRun& run) { return needsWhole && !run.isCostWhole; }});
}

std::pair<QString, bool> ParetoView::Impl::standingOf(std::size_t run) const
{
    const ShownRuns::Look* look = m_shown.lookOf(runs[run].key.toStdString());
    const bool best = std::ranges::any_of(m_front, [&](std::size_t point) {
        return std::ranges::find(m_points[point].runs, run) != m_points[point].runs.end();
    });
    return {look ? look->groupLabel : runs[run].name, best};
}

void ParetoView::Impl::show()
{
    m_points = currentPoints();
    m_front = frontOf(m_points, judge());
    const bool any = !m_points.empty();
    const bool lacksValidation =
        std::ranges::any_of(runs, [this](const ParetoRun& run) { return std::isfinite(run.loss) && !isLeftOut(run); });
    empty->setText(lacksValidation
                       ? tr("No run has been validated yet. Choose the training loss to compare them by that.")
                       : tr("Train two runs or a sweep: each becomes a point of loss against cost."));
    empty->setVisible(!any);
    plot->axisRect()->setVisible(any);
    setScales();
    if (plot->isFollowing()) {
        fit();
    }
    drawPoints();
    drawNames();
    m_pointer ? hover(*m_pointer) : hideName();
    replotSoon(*plot);
}

void ParetoView::Impl::showAll()
{
    plot->setFollowing(true);
    show();
}

void ParetoView::Impl::setScales()
{
    const bool logX = scale->currentIndex() != 1;
    const bool logY = scale->currentIndex() == 2;
    for (const auto& [axis, logarithmic] : {std::pair{plot->xAxis, logX}, std::pair{plot->yAxis, logY}}) {
        axis->setScaleType(logarithmic ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
        axis->setTicker(shortTicker(axis->scaleType()));
    }
    const QStringList names{tr("parameters"), tr("FLOP"), tr("seconds"),
                            tr("FLOP of a forward pass per token or sample")};
    plot->xAxis->setLabel(names.at(cost->currentIndex()));
    plot->yAxis->setLabel(measure->currentText());
}

void ParetoView::Impl::fit()
{
    Range x;
    Range y;
    for (const ParetoPoint& point : m_points) {
        for (const std::size_t run : point.runs) {
            x.take(costOf(runs[run]));
            y.take(lossOf(runs[run]));
        }
        if (point.loss.count > 1 && (scale->currentIndex() != 2 || point.loss.mean > point.loss.deviation)) {
            y.take(point.loss.mean - point.loss.deviation);
            y.take(point.loss.mean + point.loss.deviation);
        }
    }
    if (x.low > x.high) {
        return;
    }
    const auto widen = [](QCPAxis& axis, Range range, const std::optional<resources::AxisRange>& bounds = {}) {
        const auto rule = axis.scaleType() == QCPAxis::stLogarithmic ? resources::logRange : resources::linearRange;
        const resources::AxisRange shown = rule(range.low, range.high, 2 * kMargin, bounds);
        axis.setRange(shown.low, shown.high);
    };
    widen(*plot->xAxis, x);
    widen(*plot->yAxis, y, engine::isShare(judge().quantity) ? std::optional(resources::kShares) : std::nullopt);
}

QCPGraph* ParetoView::Impl::addDots(const QCPScatterStyle& style)
{
    QCPGraph* graph = plot->addGraph();
    graph->setLineStyle(QCPGraph::lsNone);
    graph->setScatterStyle(style);
    m_drawn.push_back(graph);
    return graph;
}

/// Draws a point, its bar and its runs in the colour of its group.
void ParetoView::Impl::drawPoint(const ParetoPoint& point)
{
    const QColor ink = inkOf(point);
    const auto mark = curveMark(point.colour.value_or(0));
    const bool isResult = point.kind == ParetoPoint::Kind::Result;
    if (point.runs.size() > 1) {
        QColor faint = ink;
        faint.setAlphaF(kMemberAlpha);
        QCPGraph* members = addDots(QCPScatterStyle(mark, QPen(faint), faint, kMemberSize));
        for (const std::size_t run : point.runs) {
            members->addData(costOf(runs[run]), lossOf(runs[run]));
        }
    }
    QCPGraph* dot = addDots(isResult ? QCPScatterStyle(mark, QPen(ink), ink, kPointSize)
                            : point.kind == ParetoPoint::Kind::Apart
                                ? QCPScatterStyle(QCPScatterStyle::ssDiamond, QPen(ink, 1.4), Qt::NoBrush, kPointSize)
                                : QCPScatterStyle(QCPScatterStyle::ssCross, QPen(ink, 1.4), Qt::NoBrush, 6));
    dot->addData(point.cost, point.loss.mean);
    if (point.runs.size() > 1) {
        auto* bars = new QCPErrorBars(plot->xAxis, plot->yAxis);
        bars->setDataPlottable(dot);
        bars->setPen(QPen(ink, kErrorWidth));
        bars->setSymbolGap(kPointSize / 2);
        bars->addData(point.loss.deviation);
        m_drawn.push_back(bars);
    }
}

void ParetoView::Impl::drawPoints()
{
    for (auto drawn = m_drawn.rbegin(); drawn != m_drawn.rend(); ++drawn) { // bars before their points
        plot->removePlottable(*drawn);
    }
    m_drawn.clear();
    m_chosen->data()->clear();
    for (const ParetoPoint& point : m_points) {
        drawPoint(point);
        if (isChosen(point)) {
            m_chosen->addData(point.cost, point.loss.mean);
        }
    }
    drawLine();
    fillLegend();
}

/// The front is a staircase of the best loss for each cost.
void ParetoView::Impl::drawLine()
{
    m_line->data()->clear();
    double at = 0;
    double before = std::numeric_limits<double>::quiet_NaN(); // no step leads to the first
    for (const std::size_t i : m_front) {
        m_line->addData(at++, m_points[i].cost, before);
        before = m_points[i].loss.mean;
        m_line->addData(at++, m_points[i].cost, before);
    }
}

/// The legend lists only the kinds of points that exist.
void ParetoView::Impl::fillLegend()
{
    const auto& c = resources::themeColours(theme);
    std::vector<PlotLegend::Entry> entries;
    const QColor muted = toQColor(c.muted);
    const auto add = [&](auto isMeant, const QString& text, QCPScatterStyle::ScatterShape mark) {
        if (std::ranges::any_of(m_points, isMeant)) {
            entries.push_back({.text = text, .colour = muted, .line = Qt::NoPen, .marks = mark});
        }
    };
    using Kind = ParetoPoint::Kind;
    add([](const ParetoPoint& point) { return point.runs.size() > 1; }, tr("mean ± deviation over seeds"),
        QCPScatterStyle::ssDisc);
    if (!m_front.empty()) {
        entries.push_back({.text = tr("Pareto front"), .colour = muted});
    }
    add([](const ParetoPoint& point) { return point.kind == Kind::SoFar; }, tr("not finished"),
        QCPScatterStyle::ssCross);
    add([](const ParetoPoint& point) { return point.kind == Kind::Apart; }, tr("start of unknown cost"),
        QCPScatterStyle::ssDiamond);
    plot->plotLegend()->setEntries(std::move(entries));
}

/// Hides the name of the run under the pointer.
void ParetoView::Impl::hideName()
{
    m_name->setVisible(false);
    plot->setCursor(Qt::ArrowCursor);
}

/// Names all points in the colours of their groups, those of the front first, unless there are too many.
void ParetoView::Impl::drawNames()
{
    std::vector<FrontNames::Name> names;
    std::vector<QPointF> places;
    std::vector<QLineF> lines;
    const bool isCrowded = m_points.size() > kNamedPoints;
    const auto add = [&](const ParetoPoint& point) {
        const double reach = point.runs.size() > 1 ? point.loss.deviation : 0;
        names.push_back({QPointF(point.cost, point.loss.mean), point.name, inkOf(point), reach});
    };
    for (const std::size_t i : m_front.size() <= kNamedPoints ? m_front : std::vector<std::size_t>()) {
        add(m_points[i]);
    }
    for (std::size_t i = 0; i < m_points.size(); ++i) {
        const ParetoPoint& point = m_points[i];
        places.emplace_back(point.cost, point.loss.mean);
        if (!isCrowded && point.kind == ParetoPoint::Kind::Result && std::ranges::find(m_front, i) == m_front.end()) {
            add(point);
        }
        if (point.runs.size() > 1) {
            lines.emplace_back(point.cost, point.loss.mean - point.loss.deviation, point.cost,
                               point.loss.mean + point.loss.deviation);
        }
    }
    std::optional<QPointF> before;
    for (const QCPCurveData& corner : *m_line->data()) {
        const QPointF at(corner.key, corner.value);
        if (before && std::isfinite(corner.value)) {
            lines.emplace_back(*before, at);
        }
        before = std::isfinite(corner.value) ? std::optional(at) : std::nullopt;
    }
    m_names.setNames(names, std::move(places), std::move(lines));
}

std::ptrdiff_t ParetoView::Impl::pointAt(QPointF position) const
{
    std::ptrdiff_t nearest = -1;
    double least = kReach;
    for (std::size_t i = 0; i < m_points.size(); ++i) {
        const double distance = std::hypot(plot->xAxis->coordToPixel(m_points[i].cost) - position.x(),
                                           plot->yAxis->coordToPixel(m_points[i].loss.mean) - position.y());
        if (distance < least) {
            least = distance;
            nearest = static_cast<std::ptrdiff_t>(i);
        }
    }
    return nearest;
}

/// Returns the lines beside the pointer, with numbers as the axes write them.
QString ParetoView::Impl::textOf(const ParetoPoint& point) const
{
    const auto mean = [&](Cost of) {
        double sum = 0;
        for (const std::size_t run : point.runs) {
            sum += runs[run].*of;
        }
        return QString::fromStdString(resources::shortNumber(sum / static_cast<double>(point.runs.size()), 3));
    };
    const ParetoRun& first = runs[point.runs.front()];
    QStringList lines{point.name};
    const QString soFar = point.kind == ParetoPoint::Kind::SoFar ? tr(" so far, %1").arg(first.status) : QString();
    const QString loss = point.runs.size() > 1 ? QString::fromStdString(projects::textOf(point.loss))
                                               : QString::number(point.loss.mean, 'g', 5);
    lines << tr("loss %1%2").arg(loss, soFar);
    lines << tr("%1 parameters, %2 FLOP, %3 s")
                 .arg(mean(&ParetoRun::parameters), mean(&ParetoRun::flops), mean(&ParetoRun::seconds));
    if (point.kind == ParetoPoint::Kind::Apart) {
        lines << tr("without the cost of the weights that it began with");
    }
    return lines.join(QLatin1Char('\n'));
}

void ParetoView::Impl::hover(QPointF position)
{
    const std::ptrdiff_t point = pointAt(position);
    m_name->setVisible(point >= 0);
    if (point >= 0) {
        m_name->setText(textOf(m_points[static_cast<std::size_t>(point)]));
        const bool right = position.x() > plot->axisRect()->center().x();
        m_name->setPositionAlignment((right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
        m_name->position->setCoords(position.x() + (right ? -kReach : kReach), position.y());
    }
    plot->setCursor(point >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
    replotSoon(*plot);
}

void ParetoView::Impl::choose(std::size_t point)
{
    m_shown.choose(runs[m_points[point].runs.front()].key.toStdString());
}

void ParetoView::Impl::markChosen()
{
    drawPoints();
    replotSoon(*plot);
}

/// Moves to the next point by cost.
void ParetoView::Impl::step(int direction)
{
    if (m_points.empty()) {
        return;
    }
    std::vector<std::size_t> order(m_points.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [this](std::size_t i) { return m_points[i].cost; });
    const auto now = std::ranges::find_if(order, [this](std::size_t i) { return isChosen(m_points[i]); });
    const auto last = static_cast<std::ptrdiff_t>(order.size()) - 1;
    const std::ptrdiff_t place = now == order.end() ? (direction > 0 ? 0 : last) : now - order.begin() + direction;
    choose(order[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(place, 0, last))]);
}

void ParetoView::Impl::retheme()
{
    applyTheme(*plot, theme);
    plot->plotLegend()->setTheme(theme);
    const auto& c = resources::themeColours(theme);
    m_line->setPen(QPen(toQColor(c.muted), 1.4));
    m_chosen->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(toQColor(c.accent), 2), Qt::NoBrush, 15));
    m_name->setColor(toQColor(c.text));
    m_name->setBrush(toQColor(c.raised, 0.94));
    m_name->setPen(toQColor(c.border));
    m_name->setFont(plot->font());
    setMuted(*empty, theme);
}

ParetoView::ParetoView(ShownRuns& shown, QWidget* parent)
    : PlotView(parent), m_impl(std::make_unique<Impl>(shown, this))
{
    connect(&shown, &ShownRuns::chosenChanged, this, [this] { m_impl->markChosen(); });
    connect(&shown, &ShownRuns::leftOutChanged, this, [this] { m_impl->show(); });
    connect(&shown, &ShownRuns::looksChanged, this, [this] { m_impl->show(); });
}

ParetoView::~ParetoView() = default;

void ParetoView::setRuns(std::vector<ParetoRun> runs)
{
    m_impl->runs = std::move(runs);
    const QString quantity = QString::fromStdString(std::string(m_impl->judge().quantity));
    m_impl->measure->setItemText(0, tr("validation %1").arg(quantity));
    m_impl->measure->setItemText(1, tr("training %1").arg(quantity));
    m_impl->show();
}

void ParetoView::setTheme(resources::Theme theme)
{
    m_impl->theme = theme;
    m_impl->retheme();
    m_impl->show();
}

CsvText ParetoView::csvText() const
{
    struct Row {
        ParetoRun run;
        std::pair<QString, bool> standing;
    };
    std::vector<Row> rows;
    for (std::size_t i = 0; i < m_impl->runs.size(); ++i) {
        if (!m_impl->isLeftOut(m_impl->runs[i])) {
            rows.push_back({m_impl->runs[i], m_impl->standingOf(i)});
        }
    }
    return [rows = std::move(rows)](QTextStream& out) {
        out.setRealNumberPrecision(17);
        out << "run,group,status,parameters,flop,seconds,pass_flop,loss,validation_loss,whole_cost,front\n";
        for (const auto& [run, standing] : rows) {
            out << csvQuoted(run.name) << ',' << csvQuoted(standing.first) << ',' << csvQuoted(run.status) << ','
                << run.parameters << ',' << run.flops << ',' << run.seconds << ',' << run.passFlops << ',' << run.loss
                << ',' << run.validationLoss << ',' << (run.isCostWhole ? 1 : 0) << ',' << (standing.second ? 1 : 0)
                << '\n';
        }
    };
}

QCustomPlot& ParetoView::plot() const
{
    return *m_impl->plot;
}

void ParetoView::keyPressEvent(QKeyEvent* event)
{
    switch (event->key()) {
    case Qt::Key_Left:
        return m_impl->step(-1);
    case Qt::Key_Right:
        return m_impl->step(1);
    case Qt::Key_Home:
        return m_impl->showAll();
    default:
        PlotView::keyPressEvent(event);
    }
}

} // namespace residua::visualizers
