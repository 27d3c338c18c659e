// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QAction;
class QLabel;

namespace residua::app {

class RunController;

/// How many runs wait and for what, with the queue's own commands beside it. Hidden while nothing waits.
class QueueStrip : public QWidget {
    Q_OBJECT
public:
    explicit QueueStrip(QWidget* parent = nullptr);

    /// The commands are the window's.
    void follow(const RunController& controller, QAction* goOn, QAction* skip, QAction* clear);

private:
    void refresh(const RunController& controller);

    QLabel* m_text;
};

} // namespace residua::app
