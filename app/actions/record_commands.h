// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>

#include <string>
#include <vector>

class QWidget;

namespace residua::app {

class Banner;
class Look;
class RunArchive;
class Workspace;
struct TrashedRun;
struct WindowActions;

/// The commands on the records of runs: their trash, their reports, and the comparison of two. GUI thread.
class RecordCommands : public QObject {
    Q_OBJECT
public:
    RecordCommands(const WindowActions& actions, RunArchive& archive, Workspace& workspace, Banner& banner,
                   const Look& look, QWidget* window);

signals:
    void refused(const QString& reason);
    void noted(const QString& text);

private:
    void exportReport();
    void askToTrash(const std::vector<std::string>& runs);
    void offerBack(const std::vector<TrashedRun>& runs);

    RunArchive& m_archive;
    Workspace& m_workspace;
    Banner& m_banner;
    QWidget* m_window;
};

} // namespace residua::app
