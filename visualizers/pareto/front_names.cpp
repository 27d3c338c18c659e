// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/pareto/front_names.h"

#include <qcustomplot.h>

#include <algorithm>
#include <utility>

namespace residua::visualizers {

namespace {

constexpr double kPointReach = 5; ///< pixels around a point that names leave free
constexpr double kGap = 7;        ///< pixels between a point and its name

} // namespace

FrontNames::FrontNames(QCustomPlot& plot) : m_plot(plot)
{
    QObject::connect(&plot, &QCustomPlot::afterLayout, &plot, [this] { spread(); });
}

void FrontNames::setNames(const std::vector<Name>& names, std::vector<QPointF> points, std::vector<QLineF> lines)
{
    m_names = names;
    m_points = std::move(points);
    m_lines = std::move(lines);
    for (QCPItemText* label : m_labels) {
        m_plot.removeItem(label);
    }
    m_labels.clear();
    for (const Name& name : names) {
        auto* label = new QCPItemText(&m_plot);
        label->position->setType(QCPItemPosition::ptAbsolute);
        label->setPositionAlignment(Qt::AlignLeft | Qt::AlignTop);
        label->setText(name.text);
        label->setColor(name.ink);
        label->setFont(m_plot.font());
        m_labels.push_back(label);
    }
}

QPointF FrontNames::pixelOf(QPointF at) const
{
    return {m_plot.xAxis->coordToPixel(at.x()), m_plot.yAxis->coordToPixel(at.y())};
}

std::ptrdiff_t FrontNames::linesIn(const QRectF& room) const
{
    return std::ranges::count_if(m_lines, [&](const QLineF& line) {
        const QRectF ends = QRectF(pixelOf(line.p1()), pixelOf(line.p2())).normalized();
        return ends.adjusted(-1, -1, 1, 1).intersects(room);
    });
}

std::vector<QRectF> FrontNames::placesOf(const Name& name) const
{
    const QSizeF size = QFontMetricsF(m_plot.font()).size(0, name.text);
    const QPointF at = pixelOf(name.at);
    const double left = at.x() - kGap - size.width();
    const double right = at.x() + kGap;
    const double middle = at.x() - size.width() / 2;
    std::vector<QRectF> places;
    const auto add = [&](double x, double y) { places.emplace_back(QPointF(x, y), size); };
    for (const double y : {at.y() - size.height() - 3, at.y() + 3, at.y() - size.height() / 2}) {
        add(right, y);
        add(left, y);
    }
    const double top = pixelOf({name.at.x(), name.at.y() + name.reach}).y();
    const double bottom = pixelOf({name.at.x(), name.at.y() - name.reach}).y();
    for (const double x : {middle, right, left}) { // at the ends of its bar
        add(x, top - size.height() - 3);
        add(x, bottom + 3);
    }
    return places;
}

/// Omits names without room, because the pointer shows them.
void FrontNames::spread()
{
    std::vector<QRectF> taken;
    for (const QPointF& point : m_points) {
        const QPointF at = pixelOf(point);
        taken.emplace_back(at.x() - kPointReach, at.y() - kPointReach, 2 * kPointReach, 2 * kPointReach);
    }
    for (std::size_t i = 0; i < m_names.size(); ++i) {
        const QRectF* best = nullptr;
        std::ptrdiff_t fewest = 0;
        const std::vector<QRectF> places = placesOf(m_names[i]);
        for (const QRectF& place : places) {
            const bool isFree =
                QRectF(m_plot.axisRect()->rect()).contains(place) &&
                std::ranges::none_of(taken, [&](const QRectF& other) { return other.intersects(place); });
            const std::ptrdiff_t lines = isFree ? linesIn(place) : 0;
            if (isFree && (best == nullptr || lines < fewest)) {
                best = &place;
                fewest = lines;
            }
        }
        m_labels[i]->setVisible(best != nullptr);
        if (best != nullptr) {
            m_labels[i]->position->setCoords(best->topLeft());
            taken.push_back(*best);
        }
    }
}

} // namespace residua::visualizers
