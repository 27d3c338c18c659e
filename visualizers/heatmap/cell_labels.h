// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <qcustomplot.h>

namespace residua::visualizers {

/// The numbers of a colour map's cells, written in them where there is room.
class CellLabels final : public QCPAbstractItem {
public:
    explicit CellLabels(QCPColorMap* map);

    double selectTest(const QPointF& position, bool onlySelectable, QVariant* details) const override;

protected:
    void draw(QCPPainter* painter) override;

private:
    QCPColorMap* m_map;
};

} // namespace residua::visualizers
