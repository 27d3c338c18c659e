// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/heatmap/heatmap_grid.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace residua::visualizers {
namespace {

constexpr double kSmallestLabelled = 38; ///< pixels a cell needs before its number is written in it

} // namespace

QString cellText(double value, int decimals)
{
    const QString text = QString::number(value, 'f', decimals);
    return text.toDouble() == 0 ? QString::number(0.0, 'f', decimals) : text;
}

CellLabels::CellLabels(QCPColorMap* map) : QCPAbstractItem(map->parentPlot()), m_map(map)
{
    setSelectable(false);
}

void CellLabels::setNumbers(std::vector<float> numbers, int decimals, int fewest)
{
    m_numbers = std::move(numbers);
    m_decimals = decimals;
    m_fewest = std::min(fewest, decimals);
    projects::FiniteRange range;
    for (const float number : m_numbers) {
        range.add(number);
    }
    m_low = range.empty() ? 0 : range.low;
    m_high = range.empty() ? 0 : range.high;
}

/// Returns the width in pixels of the wider one of the smallest and the largest number.
double CellLabels::widthOf(const QFontMetrics& metrics, int decimals) const
{
    return 4.0 + std::max(metrics.horizontalAdvance(cellText(m_low, decimals)),
                          metrics.horizontalAdvance(cellText(m_high, decimals)));
}

double CellLabels::selectTest(const QPointF&, bool, QVariant*) const
{
    return -1;
}

void CellLabels::draw(QCPPainter* painter)
{
    QCPColorMapData& data = *m_map->data();
    const QCPAxis& x = *m_map->keyAxis();
    const QCPAxis& y = *m_map->valueAxis();
    const double width = std::abs(x.coordToPixel(1) - x.coordToPixel(0));
    const double height = std::abs(y.coordToPixel(1) - y.coordToPixel(0));
    const auto fits = [&](int decimals) { return widthOf(painter->fontMetrics(), decimals) <= width; };
    int decimals = m_decimals;
    while (decimals > m_fewest && !fits(decimals)) {
        --decimals;
    }
    if (width < kSmallestLabelled || height < painter->fontMetrics().height() + 2 || !fits(decimals)) {
        return;
    }
    const QCPRange range = m_map->dataRange();
    QCPColorGradient gradient = m_map->gradient();
    for (int column = 0; column < data.keySize(); ++column) {
        for (int row = 0; row < data.valueSize(); ++row) {
            const double number = m_numbers[static_cast<std::size_t>(row * data.keySize() + column)];
            if (std::isnan(number)) {
                continue;
            }
            const QColor ground(gradient.color(data.cell(column, row), range));
            painter->setPen(ground.lightnessF() > 0.5F ? Qt::black : Qt::white);
            const QRectF cell(x.coordToPixel(column) - width / 2, y.coordToPixel(row + 1) - height / 2, width, height);
            painter->drawText(cell, Qt::AlignCenter, cellText(number, decimals));
        }
    }
}

} // namespace residua::visualizers
