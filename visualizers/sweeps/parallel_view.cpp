// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/sweeps/parallel_view.h"

#include "projects/base/text.h"
#include "resources/axis.h"
#include "visualizers/plot/arrange.h"
#include "visualizers/plot/plot.h"
#include "visualizers/plot/plot_controls.h"
#include "visualizers/plot/plot_style.h"

#include <QLabel>
#include <QStringList>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <utility>

namespace residua::visualizers {
namespace {

constexpr double kMargin = 0.06;
constexpr double kWeakest = 0.14; ///< opacity of the line of the worst member
constexpr double kReach = 10;     ///< pixels around a line within which the pointer selects it
constexpr int kLabelHeight = 13;  ///< pixels between two labels that can be read
constexpr int kResultTicks = 5;
constexpr double kRightOfResult = 0.45; ///< room for its numbers, in distances of two axes

/// An axis: a vertical line with labels at heights from 0 to 1.
struct Coordinate {
    QString title;
    std::vector<std::pair<double, QString>> labels;
};

/// A member: its height on each axis, the result's last.
struct MemberLine {
    std::vector<double> heights;
    double value = 0;
    double strength = 1; ///< of its colour: 1 for the best
    QString reading;
};

double heightOf(std::size_t index, std::size_t count)
{
    return count < 2 ? 0.5 : static_cast<double>(index) / static_cast<double>(count - 1);
}

} // namespace

class ParallelView::Impl {
public:
    explicit Impl(ParallelView* view);

    void take(const projects::Sweep& shown, const std::vector<projects::SweepResult>& members,
              const projects::Judge& by);
    void draw();
    void hover(QPointF position, QPoint global);

    Plot* plot;
    QLabel* empty;
    resources::Theme theme = resources::Theme::Light;
    projects::Sweep sweep;
    std::vector<projects::SweepResult> results; ///< with a value

private:
    void makeResultAxis(const projects::Judge& by);
    void drawAxis(std::size_t at);
    [[nodiscard]] std::ptrdiff_t lineAt(QPointF position) const;

    std::vector<Coordinate> m_axes;
    std::vector<MemberLine> m_lines; ///< the best last
    std::ptrdiff_t m_pointed = -1;
    int m_height = 0; ///< of the axes as drawn
};

ParallelView::Impl::Impl(ParallelView* view)
    : plot(new Plot(view)),
      empty(inviteOver(*plot, tr("Train the sweep: each finished member becomes a line through its values.")))
{
    view->setAccessibleName(tr("Parallel coordinates"));
    plot->setAccessibleName(tr("Members of the sweep as lines through their values"));
    plot->setAttribute(Qt::WA_NoMousePropagation, false); // the menu is the view's
    plot->setMouseTracking(true);
    plot->setMinimumHeight(kLeastPlotHeight);
    plot->yAxis->setVisible(false);
    plot->yAxis->setRange(-kMargin, 1 + kMargin);
    plot->xAxis->grid()->setVisible(false);
    plot->xAxis->setSubTicks(false);
    makeColumn(view, kNoMargins, {{plot, 1}});
    QObject::connect(plot, &QCustomPlot::mouseMove, view,
                     [this](QMouseEvent* event) { hover(event->position(), event->globalPosition().toPoint()); });
    QObject::connect(plot, &Plot::pointerLeft, view, [this] { hover({-1, -1}, {}); });
    QObject::connect(plot, &QCustomPlot::afterLayout, view, [this] { // the labels that fit depend on the height
        if (const int height = plot->axisRect()->height(); height != std::exchange(m_height, height)) {
            draw();
        }
    });
}

void ParallelView::Impl::take(const projects::Sweep& shown, const std::vector<projects::SweepResult>& members,
                              const projects::Judge& by)
{
    sweep = shown;
    results.clear();
    std::ranges::copy_if(members, std::back_inserter(results), [&](const projects::SweepResult& member) {
        return member.value && std::isfinite(*member.value) && member.values.size() == sweep.axes.size();
    });
    std::ranges::sort(results, [&](const auto& a, const auto& b) { return by.prefers(*b.value, *a.value); });
    m_axes.clear();
    m_lines.assign(results.size(), {});
    m_pointed = -1;
    const auto importance = projects::importanceOf(sweep, results);
    for (std::size_t axis = 0; axis < sweep.axes.size(); ++axis) {
        const std::vector<projects::SweepValue>& values = sweep.axes[axis].values;
        Coordinate made{QString::fromStdString(labelOf(sweep.axes[axis])), {}};
        if (importance) {
            made.title += QLatin1Char('\n') + QString::fromStdString(projects::shareText(importance->shares[axis]));
        }
        for (std::size_t i = 0; i < values.size(); ++i) {
            made.labels.emplace_back(heightOf(i, values.size()), QString::fromStdString(labelOf(values[i])));
        }
        for (std::size_t i = 0; i < results.size(); ++i) {
            const auto at = std::ranges::find(values, results[i].values[axis],
                                              [](const projects::SweepValue& value) { return labelOf(value); });
            m_lines[i].heights.push_back(heightOf(static_cast<std::size_t>(at - values.begin()), values.size()));
        }
        m_axes.push_back(std::move(made));
    }
    makeResultAxis(by);
    draw();
}

/// Adds the axis of the result, and the lines' strengths and readings.
void ParallelView::Impl::makeResultAxis(const projects::Judge& by)
{
    if (results.empty()) {
        return;
    }
    const auto [low, high] = std::minmax(*results.front().value, *results.back().value);
    const resources::AxisRange range = resources::linearRange(low, high, 0);
    const auto heightAt = [&](double value) { return (value - range.low) / (range.high - range.low); };
    Coordinate result{QString::fromStdString(std::string(by.quantity)), {}};
    for (const resources::AxisTick& tick : resources::linearTicks(range, kResultTicks)) {
        result.labels.emplace_back(heightAt(tick.value), QString::fromStdString(tick.label));
    }
    m_axes.push_back(std::move(result));
    for (std::size_t i = 0; i < results.size(); ++i) {
        MemberLine& line = m_lines[i];
        line.value = *results[i].value;
        line.heights.push_back(heightAt(line.value));
        const double rank = heightOf(i, results.size()); // not the value: one diverged member would level the others
        line.strength = kWeakest + (1 - kWeakest) * rank * rank;
        QStringList words;
        for (std::size_t axis = 0; axis < sweep.axes.size(); ++axis) {
            words << QString::fromStdString(labelOf(sweep.axes[axis]) + "  " + results[i].values[axis]);
        }
        words << QString::fromStdString(std::string(by.quantity) + "  " + resources::shortNumber(line.value));
        line.reading = words.join(QLatin1Char('\n'));
    }
}

void ParallelView::Impl::draw()
{
    plot->clearPlottables();
    plot->clearItems();
    empty->setVisible(results.empty());
    plot->axisRect()->setVisible(!results.empty());
    const auto& colours = resources::themeColours(theme);
    const QSharedPointer<QCPAxisTickerText> titles(new QCPAxisTickerText);
    for (std::size_t i = 0; i < m_axes.size(); ++i) {
        titles->addTick(static_cast<double>(i), m_axes[i].title);
        drawAxis(i);
    }
    plot->xAxis->setTicker(titles);
    plot->xAxis->setRange(-0.3, static_cast<double>(m_axes.size()) - 1 + kRightOfResult);
    for (std::size_t i = 0; i < m_lines.size(); ++i) {
        auto* curve = new QCPCurve(plot->xAxis, plot->yAxis);
        const bool isPointed = static_cast<std::ptrdiff_t>(i) == m_pointed;
        const bool isBest = i + 1 == m_lines.size();
        const double strength = m_pointed < 0 || isPointed ? m_lines[i].strength : kWeakest;
        curve->setPen(QPen(toQColor(isPointed ? colours.text : colours.accent, isPointed ? 1 : strength),
                           isPointed || isBest ? 2.4 : 1.4));
        for (std::size_t at = 0; at < m_lines[i].heights.size(); ++at) {
            curve->addData(static_cast<double>(at), static_cast<double>(at), m_lines[i].heights[at]);
        }
    }
    replotSoon(*plot);
}

void ParallelView::Impl::drawAxis(std::size_t at)
{
    const auto& colours = resources::themeColours(theme);
    const auto x = static_cast<double>(at);
    auto* line = new QCPItemLine(plot);
    line->start->setCoords(x, 0);
    line->end->setCoords(x, 1);
    line->setPen(QPen(toQColor(colours.muted)));
    const std::size_t fit = std::max(1, plot->axisRect()->height() / kLabelHeight);
    const std::size_t every = (m_axes[at].labels.size() + fit - 1) / fit;
    for (std::size_t i = 0; i < m_axes[at].labels.size(); i += every) {
        auto* label = new QCPItemText(plot);
        label->position->setCoords(x, m_axes[at].labels[i].first);
        label->setPositionAlignment(Qt::AlignLeft | Qt::AlignVCenter);
        label->setPadding(QMargins(5, 0, 2, 0));
        label->setText(m_axes[at].labels[i].second);
        label->setFont(plot->xAxis->tickLabelFont());
        label->setColor(toQColor(colours.text));
        label->setBrush(toQColor(colours.surface, 0.75)); // lines cross it
        label->setLayer(QStringLiteral("overlay"));
    }
}

/// Returns the line nearest to the pointer, or −1 if none is within reach.
std::ptrdiff_t ParallelView::Impl::lineAt(QPointF position) const
{
    const double x = plot->xAxis->pixelToCoord(position.x());
    if (!plot->axisRect()->rect().contains(position.toPoint()) || x < 0 || m_axes.size() < 2 ||
        x > static_cast<double>(m_axes.size() - 1)) {
        return -1;
    }
    const auto left = std::min(static_cast<std::size_t>(x), m_axes.size() - 2);
    const double share = x - static_cast<double>(left);
    std::ptrdiff_t nearest = -1;
    double least = kReach;
    for (std::size_t i = 0; i < m_lines.size(); ++i) {
        const double height = std::lerp(m_lines[i].heights[left], m_lines[i].heights[left + 1], share);
        const double away = std::abs(plot->yAxis->coordToPixel(height) - position.y());
        if (away <= least) {
            least = away;
            nearest = static_cast<std::ptrdiff_t>(i);
        }
    }
    return nearest;
}

void ParallelView::Impl::hover(QPointF position, QPoint global)
{
    const std::ptrdiff_t line = lineAt(position);
    if (line != std::exchange(m_pointed, line)) {
        draw();
    }
    QToolTip::showText(global, line < 0 ? QString() : m_lines[static_cast<std::size_t>(line)].reading, plot);
}

ParallelView::ParallelView(QWidget* parent) : PlotView(parent), m_impl(std::make_unique<Impl>(this))
{
    setTheme(m_impl->theme);
}

ParallelView::~ParallelView() = default;

void ParallelView::setResults(const projects::Sweep& sweep, const std::vector<projects::SweepResult>& results,
                              const projects::Judge& judge)
{
    m_impl->take(sweep, results, judge);
}

void ParallelView::setTheme(resources::Theme theme)
{
    m_impl->theme = theme;
    applyTheme(*m_impl->plot, theme);
    setMuted(*m_impl->empty, theme);
    m_impl->plot->xAxis->grid()->setVisible(false);
    m_impl->draw();
}

CsvText ParallelView::csvText() const
{
    return [sweep = m_impl->sweep, results = m_impl->results](QTextStream& out) {
        out.setRealNumberPrecision(17);
        for (const projects::SweepAxis& axis : sweep.axes) {
            out << csvQuoted(QString::fromStdString(labelOf(axis))) << ',';
        }
        out << "result\n";
        for (const projects::SweepResult& result : results) {
            for (const std::string& value : result.values) {
                out << csvQuoted(QString::fromStdString(value)) << ',';
            }
            out << *result.value << '\n';
        }
    };
}

QCustomPlot& ParallelView::plot() const
{
    return *m_impl->plot;
}

} // namespace residua::visualizers
