// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <qcustomplot.h>

#include <utility>
#include <vector>

namespace residua::visualizers {

/// Returns the decimals that distinguish numbers from `low` to `high`: 2, or more if they differ by less.
[[nodiscard]] int decimalsFor(double low, double high);
/// Formats the number with `decimals` decimals; never "-0.00".
[[nodiscard]] QString cellText(double value, int decimals);

/// The numbers of a colour map's cells, drawn in the cells if there is room.
class CellLabels final : public QCPAbstractItem {
public:
    explicit CellLabels(QCPColorMap* map);

    /// Sets the numbers of the map's cells, row by row.
    void setNumbers(std::vector<float> numbers) { m_numbers = std::move(numbers); }

    double selectTest(const QPointF& position, bool onlySelectable, QVariant* details) const override;

protected:
    void draw(QCPPainter* painter) override;

private:
    QCPColorMap* m_map;
    std::vector<float> m_numbers;
};

} // namespace residua::visualizers
