// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/runs/run_costs.h"

#include <QObject>

namespace residua::app {

class DocumentLink;
class DocumentSession;
struct Property;
class RunController;
class Workspace;

/// Ties the sweeps of the document to their panel, to the inspector's fields and to the queue, and the runs to the plot
/// of loss against cost. GUI thread.
class SweepLink : public QObject {
    Q_OBJECT
public:
    SweepLink(DocumentSession& session, RunController& controller, DocumentLink& documents, Workspace& workspace,
              QObject* parent = nullptr);

    /// Brings the panel to the front: with the field that the inspector's cursor is in, where it is in one.
    void begin();

signals:
    void refused(const QString& reason);

private:
    void connectPanel();
    void connectCosts();
    void sweepProperty(const Property& property);

    DocumentSession& m_session;
    RunController& m_controller;
    DocumentLink& m_documents;
    Workspace& m_workspace;
    RunCosts m_costs;
};

} // namespace residua::app
