// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/runs/run_loader.h"
#include "engine/api/session.h"

#include <QObject>
#include <QTimer>

#include <filesystem>
#include <set>
#include <string>

namespace residua::app {

class DocumentLink;
class DocumentSession;
class RunController;
class Workspace;

/// Brings what a run tells to the views: curves, matrices, learned weights on the canvas and in the outline,
/// the list of runs. GUI thread.
class RunLink : public QObject {
    Q_OBJECT
public:
    RunLink(DocumentSession& session, RunController& controller, Workspace& workspace, DocumentLink& documents,
            QObject* parent = nullptr);

    /// Takes a run back out of the trash.
    void restore(const std::filesystem::path& trashed);

signals:
    void refused(const QString& reason);
    /// A run lies in the trash now, at `trashed`.
    void removed(const QString& name, const std::filesystem::path& trashed);
    void compareRequested(const std::string& first, const std::string& second);

private:
    void listRuns();
    void openAnew();
    void onStarted(const std::filesystem::path& directory);
    void onProgress(const engine::Progress& progress);
    void onLoaded(const std::shared_ptr<const RunRecord>& record);
    void remove(const std::string& directory);
    void setOverlaid(const engine::RunInfo& run, bool overlaid);
    void showFigures(const engine::Progress& progress);
    void showWeights(const std::vector<engine::Matrix>& matrices);

    DocumentSession& m_session;
    RunController& m_controller;
    Workspace& m_workspace;
    DocumentLink& m_documents;
    RunLoader m_loader;
    QTimer m_watch;
    std::string m_shown;             ///< the run whose matrices the views hold
    std::set<std::string> m_loading; ///< overlays that are being read
    projects::Topology m_topology;   ///< under which the shown weights were learned
};

/// The matrix that canvas and outline show: the weights as applied, of the first port where there are several.
[[nodiscard]] const engine::Matrix* shownMatrix(const std::vector<engine::Matrix>& matrices);

} // namespace residua::app
