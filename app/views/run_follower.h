// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/records/run_loader.h"
#include "app/views/live_views.h"
#include "engine/base/api/session.h"
#include "visualizers/runs/shown_runs.h"

#include <QObject>
#include <QTimer>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace residua::app {

class DocumentSession;
class RunArchive;
class RunController;
class Workspace;
struct TrashedRun;

/// Updates the workspace's list of runs and its shown runs (ShownRuns). The run that the engine trains is followed by
/// its events, from what its directory has when it is first shown. All others, of other processes too, are followed by
/// their directories. GUI thread; files are read on other threads.
class RunFollower : public QObject {
    Q_OBJECT
public:
    RunFollower(DocumentSession& session, RunController& controller, RunArchive& archive, Workspace& workspace,
                QObject* parent = nullptr);

    [[nodiscard]] LiveViews& live() { return m_live; }
    [[nodiscard]] const LiveViews& live() const { return m_live; }
    /// Lists and shows a run of the open project that is outside its folder of runs, now and whenever the project is
    /// open. `run` is absolute, without "..".
    void followAlso(const std::filesystem::path& run);

    /// True if runs are being listed, or a shown run is being read.
    [[nodiscard]] bool isReading() const { return m_lists > 0 || !m_reading.empty(); }

signals:
    void refused(const QString& reason);
    /// Emitted with the FLOP per second of a run of this project; 0: unknown.
    void rateKnown(double flopPerSecond);
    /// Emitted with the reason why the weights of a feature cannot be shown: usually no checkpoint is here.
    void featureRefused(const std::string& run, int feature, const QString& reason);

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
    void load(const std::string& directory, Matrices matrices, const RunMark& since = {});
    [[nodiscard]] Matrices matricesOf(const std::string& directory) const;
    void readCompared();
    void show(const std::string& directory);
    void showLive();
    void tellPhase();
    void tellGrowing();
    void onStarted(const std::filesystem::path& directory);
    void onProgress(const engine::Progress& progress);
    void onLoaded(const RunRecord& record);
    void onFailed(const std::string& directory, const QString& reason);
    void dropBefore(std::int64_t step);
    void tellRate(const RunRecord& record);
    void showFeature(int feature);
    [[nodiscard]] QString startOf(const std::string& directory) const;
    void followFeature(std::int64_t checkpoint);
    void onTrashed(const std::vector<TrashedRun>& runs);
    [[nodiscard]] bool isHere(const std::filesystem::path& directory) const;
    [[nodiscard]] std::vector<std::filesystem::path> runsElsewhere() const;
    [[nodiscard]] bool isLive(const std::string& directory) const;

    DocumentSession& m_session;
    RunController& m_controller;
    RunArchive& m_archive;
    Workspace& m_workspace;
    visualizers::ShownRuns& m_shown;
    LiveViews m_live;
    QTimer m_watch;
    int m_lists = 0; ///< running requests for the list
    int m_edits = 0; ///< of names, tags and notes
    /// For each project, its runs outside its own runs folder.
    std::map<std::filesystem::path, std::vector<std::filesystem::path>> m_elsewhere;
    std::set<std::string> m_reading;        ///< runs that are being read from their beginning
    std::string m_comparedRead;             ///< the run to compare with, if its matrices were requested
    std::map<std::string, RunMark> m_marks; ///< the data read of each shown run
    engine::Progress m_recent;              ///< of the live run: what its directory may lack
    std::int64_t m_featureStep = -1;        ///< the last checkpoint that was read for the shown feature
};

} // namespace residua::app
