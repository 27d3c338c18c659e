// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

namespace residua::app {

class DocumentViews;
class DocumentSession;
struct Property;
class RunController;
class Workspace;
struct WindowActions;

/// The sweeps of the document: their panel shows and edits them, a field of the inspector becomes an axis, and their
/// members are added to the queue. GUI thread.
class SweepCommands : public QObject {
    Q_OBJECT
public:
    SweepCommands(const WindowActions& actions, DocumentSession& session, RunController& controller,
                  DocumentViews& documents, Workspace& workspace, QObject* parent);

signals:
    void refused(const QString& reason);

private:
    void connectPanel();
    /// Brings the panel to the front, with the field that has the cursor in the inspector, if any.
    void begin();
    void sweepProperty(const Property& property);

    DocumentSession& m_session;
    RunController& m_controller;
    DocumentViews& m_documents;
    Workspace& m_workspace;
};

} // namespace residua::app
