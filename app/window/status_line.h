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

/// The line below the window: what has just been done, the queue, and of the project that is shown its problems, its
/// cost and its place. GUI thread.
class StatusLine : public QObject {
    Q_OBJECT
public:
    StatusLine(QStatusBar& bar, const DocumentSession& session, const Analysis& analysis,
               const RunController& controller);

    /// Says what has been done, for some seconds.
    void note(const QString& text);
    /// Whether the open project is shown; on the start page the line tells of none.
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
    ElidedLabel* m_place; ///< a path may be longer than the window is wide
};

} // namespace residua::app
