// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/heatmap/cell_labels.h"

#include <cmath>

namespace residua::visualizers {
namespace {

constexpr double kSmallestLabelled = 38; ///< pixels a cell needs before its number is written in it

} // namespace

CellLabels::CellLabels(QCPColorMap* map) : QCPAbstractItem(map->parentPlot()), m_map(map)
{
    setSelectable(false);
}

double CellLabels::selectTest(const QPointF&, bool, QVariant*) const
{
    return -1;
}

void CellLabels::draw(QCPPainter* painter)
{
    const QCPColorMapData& data = *m_map->data();
    const QCPAxis& x = *m_map->keyAxis();
    const QCPAxis& y = *m_map->valueAxis();
    const double width = std::abs(x.coordToPixel(1) - x.coordToPixel(0));
    const double height = std::abs(y.coordToPixel(1) - y.coordToPixel(0));
    if (width < kSmallestLabelled || height < painter->fontMetrics().height() + 2) {
        return;
    }
    const QCPRange range = m_map->dataRange();
    QCPColorGradient gradient = m_map->gradient();
    for (int column = 0; column < data.keySize(); ++column) {
        for (int row = 0; row < data.valueSize(); ++row) {
            const double value = m_map->data()->cell(column, row);
            if (std::isnan(value)) {
                continue;
            }
            const QColor ground(gradient.color(value, range));
            painter->setPen(ground.lightnessF() > 0.5F ? Qt::black : Qt::white);
            const QRectF cell(x.coordToPixel(column) - width / 2, y.coordToPixel(row + 1) - height / 2, width, height);
            painter->drawText(cell, Qt::AlignCenter, QString::number(value, 'f', 2));
        }
    }
}

} // namespace residua::visualizers
