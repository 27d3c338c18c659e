// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/pareto/pareto_view.h"

#include "engine/base/api/metric_traits.h"
#include "projects/studies/sweep_grid.h"
#include "resources/axis.h"
#include "visualizers/pareto/front_names.h"
#include "visualizers/plot/control_rows.h"
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
#include <limits>
#include <optional>
#include <span>

namespace residua::visualizers {
namespace {

constexpr double kReach = 14; ///< pixels around a point within which the pointer selects it
constexpr double kMargin = 0.06;
constexpr std::size_t kNamedPoints = 24; ///< the most points with names beside them
constexpr int kFrontColour = 0;

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
    Impl(ShownRuns& shown, ParetoView* view);

    void show();
    void retheme();
    void hover(QPointF position);
    void choose(std::size_t run);
    void markChosen();
    void step(int direction);
    /// Resets the user's zoom.
    void showAll();

    Plot* plot;
    QComboBox* cost;
    QComboBox* scale;
    QComboBox* measure;
    QLabel* empty;
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
    [[nodiscard]] bool isShown(const ParetoRun& run) const
    {
        return std::isfinite(lossOf(run)) && costOf(run) > 0 && !isLeftOut(run);
    }
    /// True if the run's cost is incomplete. Such a run is drawn separately and is never on the front.
    [[nodiscard]] bool isApart(const ParetoRun& run) const
    {
        const Cost by = kCosts[static_cast<std::size_t>(cost->currentIndex())];
        return !run.isCostWhole && (by == &ParetoRun::flops || by == &ParetoRun::seconds);
    }
    [[nodiscard]] projects::Judge judge() const { return runs.empty() ? projects::Judge() : runs.front().judge; }
    /// Returns the Pareto front of the visible `runs` as indices into `runs`, by increasing cost.
    [[nodiscard]] std::vector<std::size_t> front() const;

private:
    [[nodiscard]] QCPGraph* graphOf(const ParetoRun& run, bool isBest) const;
    void layOut();
    void connectControls();
    void setScales();
    void fit();
    void drawPoints(const std::vector<std::size_t>& best);
    void drawNames(const std::vector<std::size_t>& best);
    void fillLegend();
    void hideName();
    [[nodiscard]] std::ptrdiff_t runAt(QPointF position) const;

    [[nodiscard]] bool isChosen(const ParetoRun& run) const { return run.key.toStdString() == m_shown.chosen(); }

    ShownRuns& m_shown;
    ParetoView* m_view;
    QCPGraph* m_others;
    QCPGraph* m_best;
    QCPGraph* m_unfinished;
    QCPGraph* m_apart;
    QCPCurve* m_line;
    QCPGraph* m_chosen;
    QCPItemText* m_name;
    bool m_following = true;          ///< everything is shown until the user zooms
    std::optional<QPointF> m_pointer; ///< over the plot, whose runs may change below it
    FrontNames m_names;
};

ParetoView::Impl::Impl(ShownRuns& shown, ParetoView* view)
    : plot(new Plot(view)),
      cost(new PlotChoice(view)),
      scale(new PlotChoice(view)),
      measure(new PlotChoice(view)),
      empty(inviteOver(*plot, {})),
      m_shown(shown),
      m_view(view),
      m_others(plot->addGraph()),
      m_best(plot->addGraph()),
      m_unfinished(plot->addGraph()),
      m_apart(plot->addGraph()),
      m_line(new QCPCurve(plot->xAxis, plot->yAxis)),
      m_chosen(plot->addGraph()),
      m_name(new QCPItemText(plot)),
      m_names(*plot)
{
    for (QCPGraph* graph : {m_others, m_best, m_unfinished, m_apart, m_chosen}) {
        graph->setLineStyle(QCPGraph::lsNone);
        graph->setAdaptiveSampling(false);
    }
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
    m_view->setAccessibleName(tr("Pareto front"));
    plot->setAccessibleName(tr("Plot of loss against cost"));
    plot->setFocusPolicy(Qt::StrongFocus);
    plot->setAttribute(Qt::WA_NoMousePropagation, false); // the menu is the view's
    plot->setMouseTracking(true);
    plot->setMinimumHeight(kLeastPlotHeight);
    cost->addItems({tr("by parameters"), tr("by FLOP"), tr("by time (s)"), tr("by FLOP of a pass")});
    cost->setCurrentIndex(1);
    cost->setAccessibleName(tr("Cost"));
    cost->setObjectName(QStringLiteral("cost"));
    scale->addItems({tr("log x"), tr("linear"), tr("log x and y")});
    scale->setAccessibleName(tr("Scale"));
    scale->setObjectName(QStringLiteral("scale"));
    measure->addItems({tr("validation loss"), tr("training loss")});
    measure->setAccessibleName(tr("Loss"));
    measure->setObjectName(QStringLiteral("measure"));
    auto* controls = new ControlRows;
    for (QComboBox* box : {measure, cost, scale}) {
        controls->addWidget(box);
    }
    auto* column = new QVBoxLayout(m_view);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    column->addLayout(controls);
    column->addWidget(plot, 1);
}

void ParetoView::Impl::connectControls()
{
    for (QComboBox* box : {cost, scale, measure}) {
        QObject::connect(box, &QComboBox::currentIndexChanged, m_view, [this] { showAll(); });
    }
    QObject::connect(plot, &QCustomPlot::mouseDoubleClick, m_view, [this] { showAll(); });
    QObject::connect(plot, &QCustomPlot::mouseWheel, m_view, [this] { m_following = false; });
    QObject::connect(plot, &QCustomPlot::mouseMove, m_view, [this](QMouseEvent* event) {
        m_pointer = event->position();
        hover(*m_pointer);
    });
    QObject::connect(plot, &Plot::pointerLeft, m_view, [this] {
        m_pointer.reset();
        hideName();
        replotSoon(*plot);
    });
    QObject::connect(plot, &QCustomPlot::mousePress, m_view, [this](QMouseEvent* event) {
        const std::ptrdiff_t run = runAt(event->position());
        if (event->button() == Qt::LeftButton && run >= 0) {
            choose(static_cast<std::size_t>(run));
        }
    });
}

std::vector<std::size_t> ParetoView::Impl::front() const
{
    std::vector<projects::CostAndValue> points;
    for (const ParetoRun& run : runs) {
        const bool isResult = isShown(run) && run.standing == ParetoStanding::Result && !isApart(run);
        points.push_back({costOf(run), isResult ? lossOf(run) : std::numeric_limits<double>::quiet_NaN()});
    }
    return projects::paretoFront(points, judge());
}

void ParetoView::Impl::show()
{
    const bool any = std::ranges::any_of(runs, [this](const ParetoRun& run) { return isShown(run); });
    const bool lacksValidation =
        std::ranges::any_of(runs, [this](const ParetoRun& run) { return std::isfinite(run.loss) && !isLeftOut(run); });
    empty->setText(lacksValidation
                       ? tr("No run has been validated yet. Choose the training loss to compare them by that.")
                       : tr("Train two runs or a sweep: each becomes a point of loss against cost."));
    empty->setVisible(!any);
    plot->axisRect()->setVisible(any);
    setScales();
    const std::vector<std::size_t> best = front();
    if (m_following) {
        fit();
    }
    drawPoints(best);
    drawNames(best);
    m_pointer ? hover(*m_pointer) : hideName();
    replotSoon(*plot);
}

void ParetoView::Impl::showAll()
{
    m_following = true;
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
    for (const ParetoRun& run : runs) {
        if (isShown(run)) {
            x.take(costOf(run));
            y.take(lossOf(run));
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

/// The front is a staircase of the best loss for each cost.
void ParetoView::Impl::drawPoints(const std::vector<std::size_t>& best)
{
    m_others->data()->clear();
    m_best->data()->clear();
    m_unfinished->data()->clear();
    m_apart->data()->clear();
    m_chosen->data()->clear();
    m_line->data()->clear();
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (!isShown(runs[i])) {
            continue;
        }
        const bool isBest = std::ranges::find(best, i) != best.end();
        graphOf(runs[i], isBest)->addData(costOf(runs[i]), lossOf(runs[i]));
        if (isChosen(runs[i])) {
            m_chosen->addData(costOf(runs[i]), lossOf(runs[i]));
        }
    }
    double at = 0;
    double before = std::numeric_limits<double>::quiet_NaN(); // no step leads to the first
    for (const std::size_t i : best) {
        m_line->addData(at++, costOf(runs[i]), before);
        before = lossOf(runs[i]);
        m_line->addData(at++, costOf(runs[i]), before);
    }
    fillLegend();
}

/// The legend lists only the kinds of points that exist.
void ParetoView::Impl::fillLegend()
{
    const auto& c = resources::themeColours(theme);
    std::vector<PlotLegend::Entry> entries;
    const auto add = [&](const QCPGraph& points, const QString& text, resources::Rgb colour, Qt::PenStyle line) {
        if (!points.data()->isEmpty()) {
            entries.push_back(
                {.text = text, .colour = toQColor(colour), .line = line, .marks = points.scatterStyle().shape()});
        }
    };
    add(*m_others, tr("runs"), c.muted, Qt::NoPen);
    add(*m_best, tr("Pareto front"), resources::curveColour(kFrontColour, theme), Qt::SolidLine);
    add(*m_unfinished, tr("not finished"), c.muted, Qt::NoPen);
    add(*m_apart, tr("start of unknown cost"), c.muted, Qt::NoPen);
    plot->plotLegend()->setEntries(std::move(entries));
}

/// Hides the name of the run under the pointer.
void ParetoView::Impl::hideName()
{
    m_name->setVisible(false);
    plot->setCursor(Qt::ArrowCursor);
}

QCPGraph* ParetoView::Impl::graphOf(const ParetoRun& run, bool isBest) const
{
    return isBest ? m_best : run.standing != ParetoStanding::Result ? m_unfinished : isApart(run) ? m_apart : m_others;
}

void ParetoView::Impl::drawNames(const std::vector<std::size_t>& best)
{
    std::vector<FrontNames::Name> shown;
    const QStringList names = namesOf(runs);
    for (const std::size_t i : best.size() <= kNamedPoints ? best : std::vector<std::size_t>()) {
        shown.push_back({QPointF(costOf(runs[i]), lossOf(runs[i])), names.at(static_cast<qsizetype>(i))});
    }
    m_names.setNames(shown, theme);
}

std::ptrdiff_t ParetoView::Impl::runAt(QPointF position) const
{
    std::ptrdiff_t nearest = -1;
    double least = kReach;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (!isShown(runs[i])) {
            continue;
        }
        const double distance = std::hypot(plot->xAxis->coordToPixel(costOf(runs[i])) - position.x(),
                                           plot->yAxis->coordToPixel(lossOf(runs[i])) - position.y());
        if (distance < least) {
            least = distance;
            nearest = static_cast<std::ptrdiff_t>(i);
        }
    }
    return nearest;
}

void ParetoView::Impl::hover(QPointF position)
{
    const std::ptrdiff_t run = runAt(position);
    m_name->setVisible(run >= 0);
    if (run >= 0) {
        const ParetoRun& shown = runs[static_cast<std::size_t>(run)];
        const bool isResult = shown.standing == ParetoStanding::Result;
        const QString start = isApart(shown) ? tr("\nwithout the cost of the weights that it began with") : QString();
        const QString soFar = isResult ? QString() : tr(" so far, %1").arg(shown.status);
        m_name->setText(tr("%1\nloss %2%6\n%3 parameters, %4 FLOP, %5 s")
                            .arg(shown.name, QString::number(lossOf(shown), 'g', 5),
                                 QString::number(shown.parameters, 'g', 4), QString::number(shown.flops, 'g', 3),
                                 QString::number(shown.seconds, 'g', 3), soFar) +
                        start);
        const bool right = position.x() > plot->axisRect()->center().x();
        m_name->setPositionAlignment((right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
        m_name->position->setCoords(position.x() + (right ? -kReach : kReach), position.y());
    }
    plot->setCursor(run >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
    replotSoon(*plot);
}

void ParetoView::Impl::choose(std::size_t run)
{
    m_shown.choose(runs[run].key.toStdString());
}

void ParetoView::Impl::markChosen()
{
    drawPoints(front());
    replotSoon(*plot);
}

/// Moves to the next run by cost.
void ParetoView::Impl::step(int direction)
{
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (isShown(runs[i])) {
            order.push_back(i);
        }
    }
    if (order.empty()) {
        return;
    }
    std::ranges::stable_sort(order, {}, [this](std::size_t i) { return costOf(runs[i]); });
    const auto now = std::ranges::find_if(order, [this](std::size_t i) { return isChosen(runs[i]); });
    const auto last = static_cast<std::ptrdiff_t>(order.size()) - 1;
    const std::ptrdiff_t place = now == order.end() ? (direction > 0 ? 0 : last) : now - order.begin() + direction;
    choose(order[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(place, 0, last))]);
}

void ParetoView::Impl::retheme()
{
    applyTheme(*plot, theme);
    plot->plotLegend()->setTheme(theme);
    const auto& c = resources::themeColours(theme);
    const QColor front = toQColor(resources::curveColour(kFrontColour, theme));
    m_others->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(toQColor(c.muted), 1.4), Qt::NoBrush, 7));
    m_unfinished->setScatterStyle(
        QCPScatterStyle(QCPScatterStyle::ssCross, QPen(toQColor(c.muted), 1.4), Qt::NoBrush, 6));
    m_apart->setScatterStyle(
        QCPScatterStyle(QCPScatterStyle::ssTriangle, QPen(toQColor(c.muted), 1.4), Qt::NoBrush, 7));
    m_best->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDisc, QPen(front), front, 8));
    m_line->setPen(QPen(front, 1.6));
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
        bool onFront = false;
    };
    std::vector<Row> rows;
    const std::vector<std::size_t> best = m_impl->front();
    for (std::size_t i = 0; i < m_impl->runs.size(); ++i) {
        if (!m_impl->isLeftOut(m_impl->runs[i])) {
            rows.push_back({m_impl->runs[i], std::ranges::find(best, i) != best.end()});
        }
    }
    return [rows = std::move(rows)](QTextStream& out) {
        out.setRealNumberPrecision(17);
        out << "run,status,parameters,flop,seconds,pass_flop,loss,validation_loss,whole_cost,front\n";
        for (const auto& [run, onFront] : rows) {
            out << csvQuoted(run.name) << ',' << csvQuoted(run.status) << ',' << run.parameters << ',' << run.flops
                << ',' << run.seconds << ',' << run.passFlops << ',' << run.loss << ',' << run.validationLoss << ','
                << (run.isCostWhole ? 1 : 0) << ',' << (onFront ? 1 : 0) << '\n';
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
