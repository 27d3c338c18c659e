// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/loss_curve.h"
#include "visualizers/plot_style.h"
#include "visualizers/views.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSlider>
#include <QVBoxLayout>

#include <qcustomplot.h>

#include <cmath>
#include <map>

namespace residua::visualizers {
namespace {

constexpr double kFollowMargin = 0.04; ///< room above and below the curves, as a share of their range
constexpr int kSmoothingSteps = 20;
constexpr int kDefaultSmoothing = 8;

// 1 … about 1,000 steps, even to the eye.
double windowOf(int position)
{
    return std::pow(10.0, 3.0 * position / kSmoothingSteps);
}

QVector<QCPGraphData> toData(const std::vector<LossCurve::Point>& points)
{
    QVector<QCPGraphData> data;
    data.reserve(static_cast<qsizetype>(points.size()));
    for (const auto& point : points) {
        data.append({point.x, point.y});
    }
    return data;
}

} // namespace

class LossView::Impl {
public:
    explicit Impl(LossView* view);

    struct Run {
        LossCurve curve;
        QString name;
        std::size_t colour = 0;
        QCPGraph* raw = nullptr;
        QCPGraph* smooth = nullptr;
        QCPGraph* validation = nullptr;
        QCPGraph* broken = nullptr; ///< NaN and infinity, as marks along the bottom
    };

    Run& run(const QString& key);
    void remove(const QString& key);
    void append(Run& run, std::size_t from);
    void redraw(Run& run);
    void redrawAll();
    void style(Run& run) const;
    void rescale();
    void showValues(QMouseEvent* event);
    void setLogarithmic(bool on);

    QCustomPlot* plot;
    QCheckBox* logarithmic;
    QSlider* smoothing;
    QComboBox* axis;
    QLabel* values;
    QLabel* empty;
    QCPItemStraightLine* cursor;
    std::map<QString, Run> runs;
    std::size_t nextColour = 0;
    Theme theme = Theme::Light;
    bool following = true; ///< the view shows everything until a person zooms

private:
    [[nodiscard]] XAxis xAxis() const { return static_cast<XAxis>(axis->currentIndex()); }
    void layOut(LossView* view);
    void connectControls(LossView* view);
};

LossView::Impl::Impl(LossView* view)
    : plot(new QCustomPlot(view)),
      logarithmic(new QCheckBox(tr("Log y"), view)),
      smoothing(new QSlider(Qt::Horizontal, view)),
      axis(new QComboBox(view)),
      values(new QLabel(view)),
      empty(new QLabel(tr("Run the project to see its loss."), plot)),
      cursor(new QCPItemStraightLine(plot))
{
    layOut(view);
    plot->xAxis->setLabel(tr("step"));
    plot->yAxis->setLabel(tr("loss"));
    plot->setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
    plot->setSelectionRectMode(QCP::srmZoom);
    plot->legend->setVisible(true);
    plot->axisRect()->insetLayout()->setInsetAlignment(0, Qt::AlignTop | Qt::AlignRight);
    cursor->setVisible(false);
    connectControls(view);
    applyTheme(*plot, theme);
}

void LossView::Impl::layOut(LossView* view)
{
    view->setAccessibleName(tr("Loss"));
    plot->setAccessibleName(tr("Loss plot"));
    axis->addItems({tr("against step"), tr("against tokens or samples"), tr("against time (s)")});
    axis->setAccessibleName(tr("Horizontal axis"));
    smoothing->setRange(0, kSmoothingSteps);
    smoothing->setValue(kDefaultSmoothing);
    smoothing->setMaximumWidth(140);
    smoothing->setAccessibleName(tr("Smoothing"));
    smoothing->setToolTip(tr("Moving average over 1 to 1,000 steps; the raw losses stay faint behind it"));
    empty->setAlignment(Qt::AlignCenter);
    empty->setAttribute(Qt::WA_TransparentForMouseEvents);

    auto* controls = new QHBoxLayout;
    controls->setContentsMargins(8, 4, 8, 0);
    controls->setSpacing(10);
    controls->addWidget(axis);
    controls->addWidget(logarithmic);
    controls->addWidget(new QLabel(tr("Smoothing"), view));
    controls->addWidget(smoothing);
    controls->addStretch(1);
    controls->addWidget(values);
    auto* column = new QVBoxLayout(view);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    column->addLayout(controls);
    column->addWidget(plot, 1);
    auto* over = new QVBoxLayout(plot);
    over->addWidget(empty);
}

void LossView::Impl::connectControls(LossView* view)
{
    QObject::connect(logarithmic, &QCheckBox::toggled, view, [this](bool on) { setLogarithmic(on); });
    QObject::connect(smoothing, &QSlider::valueChanged, view, [this](int position) {
        for (auto& [key, run] : runs) {
            run.curve.setWindow(windowOf(position));
        }
        redrawAll();
    });
    QObject::connect(axis, &QComboBox::currentIndexChanged, view, [this](int index) {
        plot->xAxis->setLabel(QStringList{tr("step"), tr("tokens or samples"), tr("seconds")}.at(index));
        following = true;
        redrawAll();
    });
    QObject::connect(plot, &QCustomPlot::mouseDoubleClick, view, [this](QMouseEvent*) {
        following = true;
        rescale();
    });
    QObject::connect(plot, &QCustomPlot::mouseWheel, view, [this](QWheelEvent*) { following = false; });
    QObject::connect(plot->selectionRect(), &QCPSelectionRect::accepted, view, [this] { following = false; });
    QObject::connect(plot, &QCustomPlot::mouseMove, view, [this](QMouseEvent* event) { showValues(event); });
}

LossView::Impl::Run& LossView::Impl::run(const QString& key)
{
    if (const auto found = runs.find(key); found != runs.end()) {
        return found->second;
    }
    Run& run = runs[key];
    run.colour = nextColour++;
    run.raw = plot->addGraph();
    run.smooth = plot->addGraph();
    run.validation = plot->addGraph();
    run.broken = plot->addGraph();
    run.validation->setLineStyle(QCPGraph::lsLine);
    run.broken->setLineStyle(QCPGraph::lsNone);
    run.curve.setWindow(windowOf(smoothing->value()));
    style(run);
    return run;
}

void LossView::Impl::remove(const QString& key)
{
    const auto found = runs.find(key);
    if (found == runs.end()) {
        return;
    }
    for (QCPGraph* graph : {found->second.raw, found->second.smooth, found->second.validation, found->second.broken}) {
        plot->removeGraph(graph);
    }
    runs.erase(found);
}

void LossView::Impl::style(Run& run) const
{
    const auto colour = resources::curveColour(run.colour, theme);
    run.raw->setPen(QPen(toQColor(colour, 0.28), 1));
    run.smooth->setPen(QPen(toQColor(colour), 1.8));
    run.validation->setPen(QPen(toQColor(colour), 1.2, Qt::DashLine));
    run.validation->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle, toQColor(colour), toQColor(colour), 6));
    const QColor error = toQColor(resources::themeColours(theme).error);
    run.broken->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCross, error, 9));
    run.smooth->setName(run.name.isEmpty() ? tr("training") : tr("%1, training").arg(run.name));
    run.validation->setName(run.name.isEmpty() ? tr("validation") : tr("%1, validation").arg(run.name));
    run.raw->removeFromLegend();
    run.broken->removeFromLegend();
}

// Only what is new goes into the raw and smoothed graphs.
void LossView::Impl::append(Run& run, std::size_t from)
{
    const auto replaceFrom = [](QCPGraph* graph, const std::vector<LossCurve::Point>& points) {
        if (!points.empty()) {
            graph->data()->removeAfter(std::nextafter(points.front().x, -1.0));
            graph->data()->add(toData(points), true);
        }
    };
    replaceFrom(run.raw, run.curve.raw(xAxis(), from));
    replaceFrom(run.smooth, run.curve.smoothed(xAxis(), from));
    run.validation->data()->set(toData(run.curve.validation(xAxis())), true);
    const auto broken = run.curve.broken(xAxis());
    run.broken->data()->clear();
    for (const double x : broken) {
        run.broken->addData(x, plot->yAxis->range().lower);
    }
    rescale();
}

void LossView::Impl::redraw(Run& run)
{
    run.raw->data()->clear();
    run.smooth->data()->clear();
    append(run, 0);
}

void LossView::Impl::redrawAll()
{
    for (auto& [key, run] : runs) {
        redraw(run);
    }
}

void LossView::Impl::rescale()
{
    bool any = false;
    for (const auto& [key, run] : runs) {
        any = any || !run.curve.steps().empty();
    }
    empty->setVisible(!any);
    plot->axisRect()->setVisible(any);
    plot->legend->setVisible(any);
    if (following && any) {
        bool first = true;
        for (auto& [key, run] : runs) {
            for (QCPGraph* graph : {run.smooth, run.validation, run.raw}) {
                if (graph->dataCount() > 0) {
                    graph->rescaleAxes(!first);
                    first = false;
                }
            }
        }
        QCPRange range = plot->yAxis->range();
        if (plot->yAxis->scaleType() == QCPAxis::stLogarithmic) {
            range = QCPRange(range.lower / 1.1, range.upper * 1.1);
        } else {
            const double margin = std::max(range.size(), 1e-9) * kFollowMargin;
            range = QCPRange(range.lower - margin, range.upper + margin);
        }
        plot->yAxis->setRange(range);
    }
    plot->replot(QCustomPlot::rpQueuedReplot);
}

void LossView::Impl::setLogarithmic(bool on)
{
    plot->yAxis->setScaleType(on ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    const QSharedPointer<QCPAxisTicker> ticker(on ? new QCPAxisTickerLog : new QCPAxisTicker);
    plot->yAxis->setTicker(ticker);
    plot->yAxis->setNumberFormat(on ? QStringLiteral("eb") : QStringLiteral("gb"));
    plot->yAxis->setNumberPrecision(on ? 0 : 6);
    following = true;
    rescale();
}

void LossView::Impl::showValues(QMouseEvent* event)
{
    const double x = plot->xAxis->pixelToCoord(event->position().x());
    QStringList parts;
    for (const auto& [key, run] : runs) {
        const auto at = run.smooth->data()->findBegin(x, true);
        if (at != run.smooth->data()->constEnd()) {
            const QString label = run.name.isEmpty() ? QString() : run.name + QLatin1Char(' ');
            parts << tr("%1%2").arg(label, QString::number(at->value, 'g', 5));
        }
    }
    const bool any = !parts.isEmpty();
    cursor->setVisible(any);
    cursor->point1->setCoords(x, 0);
    cursor->point2->setCoords(x, 1);
    values->setText(any ? tr("at %1: %2").arg(QString::number(std::round(x), 'f', 0), parts.join(QStringLiteral(" · ")))
                        : QString());
    plot->replot(QCustomPlot::rpQueuedReplot);
}

LossView::LossView(QWidget* parent) : QWidget(parent), m_impl(new Impl(this)) {}

LossView::~LossView()
{
    delete m_impl;
}

void LossView::setRun(const QString& key, const QString& name)
{
    Impl::Run& run = m_impl->run(key);
    run.name = name;
    m_impl->style(run);
    m_impl->rescale();
}

void LossView::removeRun(const QString& key)
{
    m_impl->remove(key);
    m_impl->rescale();
}

void LossView::clear()
{
    while (!m_impl->runs.empty()) {
        m_impl->remove(m_impl->runs.begin()->first);
    }
    m_impl->nextColour = 0;
    m_impl->following = true;
    m_impl->rescale();
}

void LossView::append(const QString& key, const std::vector<engine::StepRecord>& steps,
                      const std::vector<engine::ValidationRecord>& validations)
{
    Impl::Run& run = m_impl->run(key);
    m_impl->append(run, run.curve.append(steps, validations));
}

void LossView::setTheme(Theme theme)
{
    m_impl->theme = theme;
    applyTheme(*m_impl->plot, theme);
    m_impl->cursor->setPen(QPen(toQColor(resources::themeColours(theme).muted), 1, Qt::DotLine));
    QPalette palette = m_impl->empty->palette();
    palette.setColor(QPalette::WindowText, toQColor(resources::themeColours(theme).muted));
    m_impl->empty->setPalette(palette);
    for (auto& [key, run] : m_impl->runs) {
        m_impl->style(run);
    }
    m_impl->plot->replot(QCustomPlot::rpQueuedReplot);
}

} // namespace residua::visualizers
