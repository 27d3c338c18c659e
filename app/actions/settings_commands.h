// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/views/run_settings_dialog.h"

#include <QObject>
#include <QPointer>

#include <string>

namespace residua::app {

class DocumentSession;
class DocumentViews;
class Workspace;

/// Shows the settings and the wiring of a run, and takes settings over into the document. GUI thread.
class SettingsCommands : public QObject {
    Q_OBJECT
public:
    SettingsCommands(const DocumentSession& session, DocumentViews& documents, Workspace& workspace, const Look& look,
                     QWidget* window);

signals:
    void refused(const QString& reason);

private:
    void ask(const std::string& run);
    void open(const QString& run, projects::Project trained);

    const DocumentSession& m_session;
    DocumentViews& m_documents;
    Workspace& m_workspace;
    const Look& m_look;
    QPointer<RunSettingsDialog> m_dialog;
    QWidget* m_window;
};

} // namespace residua::app
