// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/start/link_line.h"

#include "app/look/theme.h"

#include <algorithm>
#include <utility>

namespace residua::app {

namespace {

constexpr int kLeastDetail = 120; ///< pixels
constexpr QSize kIcon(16, 16);

} // namespace

LinkLine::LinkLine(const QString& icon, QString name, QString detail, QWidget* parent)
    : QToolButton(parent), m_name(std::move(name)), m_detail(std::move(detail))
{
    setObjectName(QStringLiteral("link"));
    setIcon(themedIcon(icon));
    setIconSize(kIcon);
    setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed); // narrower than it would like to be
    setToolTip(m_detail);
    setAccessibleName(textWithin(QWIDGETSIZE_MAX));
    setText(accessibleName());
    setCursor(Qt::PointingHandCursor);
}

QString LinkLine::textWithin(int detailWidth) const
{
    return m_name + QStringLiteral("   —   ") + fontMetrics().elidedText(m_detail, Qt::ElideMiddle, detailWidth);
}

int LinkLine::widthBeside() const
{
    return QToolButton::sizeHint().width() - fontMetrics().horizontalAdvance(text()) +
           fontMetrics().horizontalAdvance(textWithin(0));
}

QSize LinkLine::sizeHint() const
{
    return {widthBeside() + fontMetrics().horizontalAdvance(m_detail), QToolButton::sizeHint().height()};
}

QSize LinkLine::minimumSizeHint() const
{
    return {std::min(sizeHint().width(), widthBeside() + kLeastDetail), sizeHint().height()};
}

void LinkLine::resizeEvent(QResizeEvent* event)
{
    QToolButton::resizeEvent(event);
    setText(textWithin(width() - widthBeside()));
}

} // namespace residua::app
