// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/heatmap/heatmap_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace residua::visualizers {
namespace {

constexpr double kSmallestLabelled = 38; ///< pixels a cell needs before its number is written in it
constexpr int kFewest = 2;
constexpr int kMost = 6;

/// The format of the cells' numbers: the decimals, and the width in pixels of the wider one of the smallest and largest
/// number.
struct Numbers {
    int decimals = kFewest;
    double width = 0;
};

Numbers numbersOf(const std::vector<float>& shown, const QFontMetrics& metrics)
{
    double low = std::numeric_limits<double>::max();
    double high = std::numeric_limits<double>::lowest();
    for (const double value : shown) {
        if (std::isfinite(value)) {
            low = std::min(low, value);
            high = std::max(high, value);
        }
    }
    const int decimals = decimalsFor(low, high);
    return {decimals, 4.0 + std::max(metrics.horizontalAdvance(cellText(low, decimals)),
                                     metrics.horizontalAdvance(cellText(high, decimals)))};
}

} // namespace

int decimalsFor(double low, double high)
{
    const double range = high - low;
    return range > 0 ? std::clamp(1 - static_cast<int>(std::floor(std::log10(range))), kFewest, kMost) : kFewest;
}

QString cellText(double value, int decimals)
{
    const QString text = QString::number(value, 'f', decimals);
    return text.toDouble() == 0 ? QString::number(0.0, 'f', decimals) : text;
}

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
    QCPColorMapData& data = *m_map->data();
    const QCPAxis& x = *m_map->keyAxis();
    const QCPAxis& y = *m_map->valueAxis();
    const double width = std::abs(x.coordToPixel(1) - x.coordToPixel(0));
    const double height = std::abs(y.coordToPixel(1) - y.coordToPixel(0));
    if (width < kSmallestLabelled || height < painter->fontMetrics().height() + 2) {
        return;
    }
    const Numbers numbers = numbersOf(m_numbers, painter->fontMetrics());
    if (width < numbers.width) {
        return; // with fewer decimals, different numbers would look equal
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
            painter->drawText(cell, Qt::AlignCenter, cellText(number, numbers.decimals));
        }
    }
}

} // namespace residua::visualizers
