// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>

#include <string>

class QWidget;

namespace residua::app {

class DocumentSession;
class DocumentViews;
class RunBar;
class TopologyPopup;
class Workspace;
struct WindowActions;

/// The run bar's choice of topology: shows the document's topology, applies the selected one, and restores the preset
/// that the wiring came from. GUI thread.
class TopologyCommands : public QObject {
    Q_OBJECT
public:
    TopologyCommands(const WindowActions& actions, const DocumentSession& session, DocumentViews& documents,
                     Workspace& workspace, RunBar& bar, QWidget* window);

signals:
    void noted(const QString& text);

private:
    void show();
    void choose(const std::string& preset);
    void goBack();

    const DocumentSession& m_session;
    DocumentViews& m_documents;
    Workspace& m_workspace;
    RunBar& m_bar;
    TopologyPopup* m_popup;
};

} // namespace residua::app
