// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

namespace residua::app {

/// A framed button with content: click, Enter or Space chooses it.
class Card : public QFrame {
    Q_OBJECT
public:
    Card(const QString& title, const QString& summary, QWidget* picture, QWidget* parent = nullptr);

signals:
    void chosen();

protected:
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
};

} // namespace residua::app
