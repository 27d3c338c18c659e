// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <string>

namespace residua::app {

class DocumentViews;
class DocumentSession;
class HelpWindow;
class Look;
class Workspace;
struct WindowActions;

/// Opens the explanation of the selection in the document or in the palette. GUI thread.
class HelpCommands : public QObject {
    Q_OBJECT
public:
    /// The window of explanations is a child of `parent`.
    HelpCommands(const WindowActions& actions, const DocumentSession& session, const DocumentViews& documents,
                 Workspace& workspace, const Look& look, QWidget* parent);

private:
    void explainSelected();
    void explain(const std::string& word);

    const DocumentSession& m_session;
    const DocumentViews& m_documents;
    Workspace& m_workspace;
    const Look& m_look;
    QWidget* m_parent;
    HelpWindow* m_help = nullptr;
};

} // namespace residua::app
