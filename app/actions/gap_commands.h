// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/session.h"
#include "projects/edit/history.h"
#include "visualizers/gap/gap_rows.h"

#include <QObject>

#include <cstdint>
#include <string>

namespace residua::visualizers {
class GapView;
} // namespace residua::visualizers

namespace residua::app {

class DocumentSession;
class DocumentViews;
class EngineBridge;
class RunController;
class Workspace;

/// Runs the requests of the gap panel: computes gaps in the engine, links weights and canvases, and queues runs from
/// each start. GUI thread.
class GapCommands : public QObject {
    Q_OBJECT
public:
    GapCommands(DocumentSession& session, EngineBridge& engine, RunController& controller, DocumentViews& documents,
                Workspace& workspace, QObject* parent);

signals:
    void refused(const QString& reason);

private:
    void connectEngine();
    void compute();
    void showRecorded(const std::string& run);
    void begin(engine::GapRequest request);
    void take(engine::QueryTag tag, const engine::Gap& gap);
    void end(const QString& told);
    void noticeEdit();
    void noticeFront();
    void openAnew();
    void choose(const visualizers::WeightPlace& place);
    void mark();
    void train();

    DocumentSession& m_session;
    EngineBridge& m_engine;
    RunController& m_controller;
    DocumentViews& m_documents;
    Workspace& m_workspace;
    visualizers::GapView& m_view;
    engine::QueryTag m_tag{};          ///< of the running request; 0: none
    projects::ProjectSnapshot m_drawn; ///< the project whose initial weights are shown; null: none
    std::string m_run;                 ///< the run whose gap is shown; empty: no run
    bool m_notedFront = false;         ///< true if the view notes that another run is in front
    std::uint64_t m_asked = 0;         ///< answers to older requests are dropped
};

} // namespace residua::app
