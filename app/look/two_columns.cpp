// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/two_columns.h"

#include <QBoxLayout>
#include <QEvent>
#include <QResizeEvent>

namespace residua::app {

namespace {

constexpr int kBetweenColumns = 20; ///< pixels

} // namespace

TwoColumns::TwoColumns(QBoxLayout* first, int firstShare, QBoxLayout* second, int secondShare, QWidget* parent)
    : QScrollArea(parent), m_first(first), m_second(second), m_both(new QBoxLayout(QBoxLayout::LeftToRight))
{
    auto* content = new QWidget(this);
    m_both->setContentsMargins(0, 0, 0, 0);
    m_both->setSpacing(kBetweenColumns);
    m_both->addLayout(first, firstShare);
    m_both->addLayout(second, secondShare);
    content->setLayout(m_both);
    setWidget(content);
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
}

void TwoColumns::resizeEvent(QResizeEvent* event)
{
    arrange();
    QScrollArea::resizeEvent(event);
}

/// Rows that appear or get longer texts may need more width.
bool TwoColumns::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == widget() && event->type() == QEvent::LayoutRequest) {
        arrange();
    }
    return QScrollArea::eventFilter(watched, event);
}

void TwoColumns::arrange()
{
    const int needed = m_first->minimumSize().width() + kBetweenColumns + m_second->minimumSize().width();
    m_both->setDirection(needed <= viewport()->width() ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
}

} // namespace residua::app
