// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/plot/turning_split.h"

#include <algorithm>

namespace residua::visualizers {

TurningSplit::TurningSplit(int low, QWidget* parent) : QSplitter(Qt::Vertical, parent), m_low(low)
{
    setChildrenCollapsible(false);
}

void TurningSplit::setShares(const QList<int>& beside, const QList<int>& below)
{
    m_beside = beside;
    m_below = below;
    share();
}

QSize TurningSplit::minimumSizeHint() const
{
    int height = 0;
    for (int i = 0; i < count(); ++i) {
        const QWidget& part = *widget(i);
        height = std::max({height, part.minimumHeight(), part.minimumSizeHint().height()});
    }
    const QSize hint = QSplitter::minimumSizeHint();
    return {hint.width(), std::min(hint.height(), height)};
}

void TurningSplit::share()
{
    if (!m_below.isEmpty()) { // else it has one part
        setSizes(isBeside() ? m_beside : m_below);
    }
}

void TurningSplit::resizeEvent(QResizeEvent* event)
{
    const Qt::Orientation wanted = height() < m_low ? Qt::Horizontal : Qt::Vertical;
    const bool turns = orientation() != wanted;
    if (turns) {
        setOrientation(wanted);
    }
    QSplitter::resizeEvent(event);
    if (turns) {
        share();
        emit turned();
    }
}

} // namespace residua::visualizers
