// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>

class QLabel;
class QStatusBar;

namespace residua::app {

class Analysis;
class DocumentSession;
class ElidedLabel;
class RunController;

/// The line at the bottom of the window: the last action, the queue, and the problems, cost and folder of the shown
/// project. GUI thread.
class StatusLine : public QObject {
    Q_OBJECT
public:
    StatusLine(QStatusBar& bar, const DocumentSession& session, const Analysis& analysis,
               const RunController& controller);

    /// Shows the last action for some seconds.
    void note(const QString& text);
    /// Removes a note that is no longer true, if it is still shown.
    void withdraw(const QString& text);
    /// Tells whether the open project is shown. On the start page the line shows no project.
    void setProjectShown(bool shown);

private:
    void update();

    QStatusBar& m_bar;
    const DocumentSession& m_session;
    const Analysis& m_analysis;
    const RunController& m_controller;
    bool m_shown = false;
    QLabel* m_queue;
    QLabel* m_problems;
    QLabel* m_cost;
    ElidedLabel* m_place; ///< a path may be longer than the window
};

} // namespace residua::app
