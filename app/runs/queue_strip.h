// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QAction;
class QLabel;

namespace residua::app {

class RunController;

/// Shows the number of waiting runs and the reason why they wait, with the queue's commands. Hidden if no run waits.
class QueueStrip : public QWidget {
    Q_OBJECT
public:
    explicit QueueStrip(QWidget* parent = nullptr);

    /// The commands belong to the window.
    void follow(const RunController& controller, QAction* goOn, QAction* skip, QAction* clear);

private:
    void refresh(const RunController& controller);

    QLabel* m_text;
};

} // namespace residua::app
