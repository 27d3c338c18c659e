// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/records/run_loader.h"
#include "app/views/live_views.h"
#include "engine/api/session.h"
#include "visualizers/runs/shown_runs.h"

#include <QObject>
#include <QTimer>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace residua::app {

class DocumentSession;
class RunArchive;
class RunController;
class Workspace;
struct TrashedRun;

/// Tells the workspace's list of runs, and what it shows of them (ShownRuns), what the engine and the runs' directories
/// tell. A run that another process writes is followed too. GUI thread; files are read on others.
class RunFollower : public QObject {
    Q_OBJECT
public:
    RunFollower(DocumentSession& session, RunController& controller, RunArchive& archive, Workspace& workspace,
                QObject* parent = nullptr);

    [[nodiscard]] LiveViews& live() { return m_live; }
    /// Lists and shows a run of the open project that does not lie in its folder of runs, from now on and whenever that
    /// project is open. `run` is absolute, without "..".
    void followAlso(const std::filesystem::path& run);

    /// Whether runs are being listed, or one that is shown is being read.
    [[nodiscard]] bool isReading() const { return m_lists > 0 || !m_reading.empty(); }

signals:
    void refused(const QString& reason);
    /// FLOP a second that a run of this project reaches; 0: none is known.
    void rateKnown(double flopPerSecond);

private:
    void connectController();
    void connectPanels();
    void connectShown();
    void openAnew();
    void listRuns();
    void listCopy(const std::filesystem::path& copy);
    void takeList(std::vector<engine::RunInfo> runs);
    void follow(const engine::RunInfo& run);
    void request(const std::string& directory);
    void show(const std::string& directory);
    void showLive();
    void tellPhase();
    void onStarted(const std::filesystem::path& directory);
    void onProgress(const engine::Progress& progress);
    void onLoaded(const std::shared_ptr<const RunRecord>& record);
    void onFailed(const std::string& directory, const QString& reason);
    void applyPending(const std::string& directory);
    [[nodiscard]] bool isPending(const std::string& directory) const;
    void tellRate(const RunRecord& record);
    void showFeature(int feature);
    [[nodiscard]] QString startOf(const std::string& directory) const;
    void followFeature(const std::vector<engine::RunEvent>& events);
    void onTrashed(const std::vector<TrashedRun>& runs);
    [[nodiscard]] bool isHere(const std::filesystem::path& directory) const;
    [[nodiscard]] std::vector<std::filesystem::path> runsElsewhere() const;
    [[nodiscard]] bool isLive(const std::string& directory) const;

    /// What the engine tells of a run while what is before it is being read.
    struct Pending {
        std::string run; ///< its directory
        engine::Progress progress;
    };

    DocumentSession& m_session;
    RunController& m_controller;
    RunArchive& m_archive;
    Workspace& m_workspace;
    visualizers::ShownRuns& m_shown;
    LiveViews m_live;
    RunLoader m_loader;
    QTimer m_watch;
    int m_lists = 0; ///< of runs, under way
    /// For each project, its runs that lie outside its own runs folder.
    std::map<std::filesystem::path, std::vector<std::filesystem::path>> m_elsewhere;
    std::set<std::string> m_reading;        ///< runs that are being read from their beginning
    std::map<std::string, RunMark> m_marks; ///< what was read of each run that is shown
    std::optional<Pending> m_pending;
    std::int64_t m_featureStep = -1; ///< the last checkpoint that the single feature shown was read from
};

} // namespace residua::app
