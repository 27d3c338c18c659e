// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/start/card.h"

#include <QKeyEvent>
#include <QLabel>
#include <QMouseEvent>
#include <QVBoxLayout>

namespace residua::app {

Card::Card(const QString& title, const QString& summary, QWidget* picture, QWidget* parent) : QFrame(parent)
{
    setObjectName(QStringLiteral("card"));
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::PointingHandCursor);
    setAccessibleName(title);
    setAccessibleDescription(summary);
    auto* heading = new QLabel(title, this);
    heading->setProperty("role", QStringLiteral("heading"));
    auto* text = new QLabel(summary, this);
    text->setProperty("role", QStringLiteral("muted"));
    text->setWordWrap(true);
    text->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(14, 12, 14, 14);
    layout->setSpacing(4);
    if (picture) {
        layout->addWidget(picture);
        layout->addSpacing(4);
    }
    layout->addWidget(heading);
    layout->addWidget(text, 1);
}

void Card::mouseReleaseEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton && rect().contains(event->position().toPoint())) {
        emit chosen();
    }
}

void Card::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter || event->key() == Qt::Key_Space) {
        emit chosen();
    } else {
        QFrame::keyPressEvent(event);
    }
}

} // namespace residua::app
