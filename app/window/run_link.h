// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/runs/run_loader.h"
#include "app/window/live_views.h"
#include "engine/api/session.h"

#include <QObject>
#include <QTimer>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace residua::app {

class DocumentLink;
class DocumentSession;
class RunArchive;
class RunController;
class Workspace;
struct TrashedRun;

/// Brings what a run tells to the views: curves, matrices, learned weights on the canvas and in the outline,
/// the list of runs. A run that another process writes is followed too. GUI thread; files are read on others.
class RunLink : public QObject {
    Q_OBJECT
public:
    RunLink(DocumentSession& session, RunController& controller, RunArchive& archive, Workspace& workspace,
            DocumentLink& documents, QObject* parent = nullptr);

    /// The run that is chosen in the list, or else the one that is shown; empty: none.
    [[nodiscard]] std::string chosenRun() const;
    [[nodiscard]] QString chosenRunName() const;

signals:
    void refused(const QString& reason);
    /// FLOP a second that a run of this project reaches.
    void rateKnown(double flopPerSecond);

private:
    void connectRuns();
    void connectController();
    void openAnew();
    void listRuns();
    void takeList(std::vector<engine::RunInfo> runs);
    void follow(const engine::RunInfo& run);
    void request(const std::string& directory);
    void onStarted(const std::filesystem::path& directory);
    void onProgress(const engine::Progress& progress);
    void onLoaded(const std::shared_ptr<const RunRecord>& record);
    void onFailed(const std::string& directory, const QString& reason);
    void showRun(const RunRecord& record);
    void hideRun(const std::string& directory);
    void showMatrices(const RunRecord& record);
    void applyPending();
    void compareHeatmapWith(const std::string& directory, const QString& name,
                            const std::vector<engine::Matrix>& matrices);
    void showFeature(int feature);
    void followFeature(const std::vector<engine::RunEvent>& events);
    void onTrashed(const std::vector<TrashedRun>& runs);
    void showLive();
    void showNone();
    [[nodiscard]] bool isHere(const std::filesystem::path& directory) const;
    void showProgress(const engine::Progress& progress);
    void tellFeature(int feature, const std::vector<engine::Matrix>& history);
    void showWeights(const std::vector<engine::Matrix>& matrices);
    [[nodiscard]] bool isLive(const std::string& directory) const;

    DocumentSession& m_session;
    RunController& m_controller;
    RunArchive& m_archive;
    Workspace& m_workspace;
    DocumentLink& m_documents;
    LiveViews m_live;
    RunLoader m_loader;
    QTimer m_watch;
    int m_lists = 0;                           ///< of runs, under way
    std::string m_shown;                       ///< the run whose matrices the views hold
    std::string m_compared;                    ///< the run that the heatmap compares with
    std::set<std::string> m_wanted;            ///< overlays that are being read
    std::map<std::string, RunMark> m_marks;    ///< what was read of each run that the views hold
    std::optional<engine::Progress> m_pending; ///< of the live run, while what is before it is being read
    std::int64_t m_featureStep = -1;           ///< the last checkpoint that the single feature shown was read from
    projects::Topology m_topology;             ///< under which the shown weights were learned
    std::int64_t m_depth = 0;                  ///< layers of the document, as it was last seen
};

} // namespace residua::app
