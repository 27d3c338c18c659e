// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/pareto/front_names.h"

#include "visualizers/plot/plot_style.h"

#include <qcustomplot.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace residua::visualizers {

namespace {

constexpr double kPointReach = 5; ///< pixels around a point that names leave free

} // namespace

FrontNames::FrontNames(QCustomPlot& plot) : m_plot(plot)
{
    QObject::connect(&plot, &QCustomPlot::afterLayout, &plot, [this] { spread(); });
}

void FrontNames::setNames(const std::vector<Name>& names, std::vector<QPointF> points, std::vector<QPointF> line,
                          resources::Theme theme)
{
    m_points = std::move(points);
    m_line = std::move(line);
    for (QCPItemText* label : m_labels) {
        m_plot.removeItem(label);
    }
    m_labels.clear();
    for (const Name& name : names) {
        auto* label = new QCPItemText(&m_plot);
        label->position->setCoords(name.at);
        label->setPadding(QMargins(7, 3, 7, 3));
        label->setText(name.text);
        label->setColor(toQColor(resources::themeColours(theme).muted));
        label->setFont(m_plot.font());
        m_labels.push_back(label);
    }
}

QPointF FrontNames::pixelOf(QPointF at) const
{
    return {m_plot.xAxis->coordToPixel(at.x()), m_plot.yAxis->coordToPixel(at.y())};
}

bool FrontNames::meetsLine(const QRectF& room) const
{
    for (std::size_t i = 1; i < m_line.size(); ++i) { // its pieces are horizontal or vertical
        const QPointF a = pixelOf(m_line[i - 1]);
        const QPointF b = pixelOf(m_line[i]);
        if (QRectF(a, b).normalized().adjusted(-1, -1, 1, 1).intersects(room)) {
            return true;
        }
    }
    return false;
}

/// Omits names without room, because the pointer shows them.
void FrontNames::spread()
{
    const QFontMetrics metrics(m_plot.font());
    std::vector<QRectF> taken;
    for (const QPointF& point : m_points) {
        const QPointF at = pixelOf(point);
        taken.emplace_back(at.x() - kPointReach, at.y() - kPointReach, 2 * kPointReach, 2 * kPointReach);
    }
    for (QCPItemText* label : m_labels) {
        const QPointF at = label->position->pixelPosition();
        const QSizeF size = metrics.size(0, label->text()).grownBy(label->padding());
        const auto roomAt = [&](Qt::Alignment side) {
            return QRectF(QPointF(side & Qt::AlignRight ? at.x() - size.width() : at.x(),
                                  side & Qt::AlignTop ? at.y() : at.y() - size.height()),
                          size);
        };
        const auto isFree = [&](const QRectF& room) {
            const QRectF text = room.marginsRemoved(label->padding());
            return QRectF(m_plot.axisRect()->rect()).contains(text) &&
                   std::ranges::none_of(taken, [&](const QRectF& other) { return other.intersects(text); });
        };
        std::optional<Qt::Alignment> chosen;
        for (const bool mayMeetLine : {false, true}) {
            for (const Qt::Alignment side : {Qt::AlignLeft | Qt::AlignBottom, Qt::AlignRight | Qt::AlignBottom,
                                             Qt::AlignLeft | Qt::AlignTop, Qt::AlignRight | Qt::AlignTop}) {
                if (!chosen && isFree(roomAt(side)) &&
                    (mayMeetLine || !meetsLine(roomAt(side).marginsRemoved(label->padding())))) {
                    chosen = side;
                }
            }
        }
        label->setVisible(chosen.has_value());
        if (chosen) {
            label->setPositionAlignment(*chosen);
            taken.push_back(roomAt(*chosen).marginsRemoved(label->padding()));
        }
    }
}

} // namespace residua::visualizers
