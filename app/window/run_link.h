// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/runs/run_comparison.h"
#include "app/runs/run_loader.h"
#include "engine/api/session.h"

#include <QObject>
#include <QThreadPool>
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
class RunController;
class Workspace;

/// Brings what a run tells to the views: curves, matrices, learned weights on the canvas and in the outline,
/// the list of runs. A run that another process writes is followed too. GUI thread; files are read on others.
class RunLink : public QObject {
    Q_OBJECT
public:
    RunLink(DocumentSession& session, RunController& controller, Workspace& workspace, DocumentLink& documents,
            QObject* parent = nullptr);

    /// Takes a run back out of the trash.
    void restore(const std::filesystem::path& trashed);
    /// The run that is chosen in the list, or else the one that is shown; empty: none.
    [[nodiscard]] QString chosenRunName() const;
    /// Writes that run's report.
    void writeReport(const QString& path);

signals:
    void refused(const QString& reason);
    /// A run lies in the trash now, at `trashed`.
    void removed(const QString& name, const std::filesystem::path& trashed);
    void reportWritten(const QString& path);
    /// FLOP a second that a run of this project reaches.
    void rateKnown(double flopPerSecond);
    void compared(const std::shared_ptr<const residua::app::RunComparison>& comparison);

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
    void compare(const std::string& first, const std::string& second);
    void remove(const std::string& directory);
    void showProgress(const engine::Progress& progress);
    void showWeights(const std::vector<engine::Matrix>& matrices);
    [[nodiscard]] std::string chosenRun() const;
    [[nodiscard]] bool isLive(const std::string& directory) const;

    DocumentSession& m_session;
    RunController& m_controller;
    Workspace& m_workspace;
    DocumentLink& m_documents;
    RunLoader m_loader;
    QThreadPool m_files; ///< one thread: what is done with runs as wholes is done in order
    QTimer m_watch;
    int m_lists = 0;                           ///< of runs, under way
    std::string m_shown;                       ///< the run whose matrices the views hold
    std::string m_compared;                    ///< the run that the heatmap compares with
    std::set<std::string> m_wanted;            ///< overlays that are being read
    std::map<std::string, RunMark> m_marks;    ///< what was read of each run that the views hold
    std::optional<engine::Progress> m_pending; ///< of the live run, while what is before it is being read
    std::int64_t m_featureStep = -1;           ///< the last checkpoint that the single feature shown was read from
    projects::Topology m_topology;             ///< under which the shown weights were learned
};

/// The matrix that canvas and outline show: the weights as applied, of the first port where there are several.
[[nodiscard]] const engine::Matrix* shownMatrix(const std::vector<engine::Matrix>& matrices);

} // namespace residua::app
