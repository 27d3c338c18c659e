// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

namespace residua::app {

class Analysis;
class DocumentLink;
class DocumentSession;
class RunController;
class Workspace;

/// Ties the stages of the document, and the step of a run, to their panel. GUI thread.
class ScheduleLink : public QObject {
    Q_OBJECT
public:
    ScheduleLink(const DocumentSession& session, const Analysis& analysis, const RunController& controller,
                 DocumentLink& documents, Workspace& workspace, QObject* parent = nullptr);
};

} // namespace residua::app
