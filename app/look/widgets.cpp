// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/widgets.h"

#include <QBoxLayout>
#include <QEvent>
#include <QHelpEvent>
#include <QPainter>
#include <QResizeEvent>
#include <QStyle>
#include <QToolTip>

namespace residua::app {

namespace {

constexpr int kNarrowest = 24;

} // namespace

QSize ElidedLabel::minimumSizeHint() const
{
    const QSize whole = QLabel::minimumSizeHint();
    return {text().isEmpty() ? 0 : std::min(kNarrowest, whole.width()), whole.height()};
}

QString ElidedLabel::shown() const
{
    return fontMetrics().elidedText(text(), m_mode, contentsRect().width());
}

void ElidedLabel::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    style()->drawItemText(&painter, contentsRect(), static_cast<int>(alignment()), palette(), isEnabled(), shown(),
                          foregroundRole());
}

bool ElidedLabel::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip && toolTip().isEmpty() && shown() != text()) {
        QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(), text(), this);
        return true;
    }
    return QLabel::event(event);
}

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
