// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/run_follower.h"

#include "app/document/document_session.h"
#include "app/engine/background.h"
#include "app/engine/engine_bridge.h"
#include "app/records/run_archive.h"
#include "app/runs/runs_panel.h"
#include "app/runs/samples_panel.h"
#include "app/training/run_controller.h"
#include "app/workspace/workspace.h"
#include "engine/base/api/run_progress.h"
#include "engine/runs/results/coefficients.h"
#include "engine/runs/results/run_reader.h"
#include "projects/depth/depth_names.h"
#include "projects/diff/diff.h"
#include "projects/file/store.h"
#include "projects/nodes/towers.h"
#include "visualizers/heatmap/shown_matrices.h"

#include <QDateTime>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace residua::app {

namespace {

constexpr int kWatchMilliseconds = 2000;

engine::RunStatus statusOf(RunPhase phase)
{
    return phase == RunPhase::Paused ? engine::RunStatus::Paused : engine::RunStatus::Running;
}

} // namespace

RunFollower::RunFollower(DocumentSession& session, RunController& controller, RunArchive& archive, Workspace& workspace,
                         QObject* parent)
    : QObject(parent),
      m_session(session),
      m_controller(controller),
      m_archive(archive),
      m_workspace(workspace),
      m_shown(workspace.shownRuns()),
      m_live(session, workspace)
{
    m_watch.setInterval(kWatchMilliseconds); // for runs of other processes
    connect(&m_watch, &QTimer::timeout, this, &RunFollower::listRuns);
    connect(&session, &DocumentSession::opened, this, &RunFollower::openAnew);
    connect(&session, &DocumentSession::towerShown, this, [this] { // shows the matrices of another tower
        for (const visualizers::ShownRuns::Run& run : m_shown.runs()) {
            request(run.key);
        }
    });
    connectController();
    connectPanels();
    connectShown();
}

void RunFollower::connectController()
{
    connect(&m_controller, &RunController::started, this, &RunFollower::onStarted);
    connect(&m_controller, &RunController::progressed, this, &RunFollower::onProgress);
    connect(&m_controller, &RunController::checkpointWritten, this, [this](const engine::CheckpointWritten& written) {
        if (m_controller.runDirectory() == m_shown.front()) {
            followFeature(written.step);
        }
    });
    connect(&m_controller, &RunController::ended, this, &RunFollower::listRuns);
    connect(&m_controller, &RunController::forked, this, &RunFollower::listCopy);
    connect(&m_controller, &RunController::phaseChanged, this, [this] {
        if (m_controller.phase() == RunPhase::Paused || m_controller.phase() == RunPhase::Running) {
            tellPhase();
        }
    });
    connect(&m_archive, &RunArchive::trashed, this, &RunFollower::onTrashed);
    connect(&m_archive, &RunArchive::restored, this, &RunFollower::listRuns);
}

void RunFollower::connectPanels()
{
    connect(&m_workspace.runsModel(), &RunsModel::renamed, &m_archive, &RunArchive::rename);
    connect(&m_workspace.runsModel(), &RunsModel::renamed, this,
            [this](const std::string& directory, const std::string& name) {
                ++m_edits;
                m_shown.rename(directory, QString::fromStdString(name));
            });
    connect(&m_workspace.runsModel(), &RunsModel::annotated, &m_archive, &RunArchive::annotate);
    connect(&m_workspace.runsModel(), &RunsModel::annotated, this, [this] { ++m_edits; });
    connect(&m_workspace.shownMatrices(), &visualizers::ShownMatrices::featureWanted, this, &RunFollower::showFeature);
}

/// Reads every run when it is shown.
void RunFollower::connectShown()
{
    connect(&m_shown, &visualizers::ShownRuns::overlaid, this, &RunFollower::request);
    connect(&m_shown, &visualizers::ShownRuns::frontChanged, this, [this] {
        if (!m_shown.front().empty()) {
            request(m_shown.front());
        }
    });
    connect(&m_shown, &visualizers::ShownRuns::comparedChanged, this, [this] { m_comparedRead.clear(); });
    connect(&m_shown, &visualizers::ShownRuns::overlayRemoved, this, [this](const std::string& directory) {
        if (!m_shown.find(directory)) {
            m_marks.erase(directory);
        }
    });
}

void RunFollower::openAnew()
{
    m_workspace.view<RunsPanel>().clearFilter(); // it was about the runs of the former project
    m_workspace.view<SamplesPanel>().clearInput();
    m_shown.clear();
    m_reading.clear();
    m_marks.clear();
    emit rateKnown(0); // set again from this project's runs
    m_session.isOpen() ? m_watch.start() : m_watch.stop();
    takeList({});
    if (m_controller.phase() != RunPhase::Idle && isHere(m_controller.runDirectory())) {
        showLive(); // shows the training run again in its project
    }
    listRuns();
}

void RunFollower::listRuns()
{
    constexpr int kEnough = 2; // one list is being read, and one follows
    if (m_lists >= kEnough || !m_session.isOpen() || m_session.isDraft()) {
        return;
    }
    ++m_lists;
    inBackground(
        m_archive.thread(), this,
        [folder = m_session.directory() / projects::kRunsFolder, further = runsElsewhere()] {
            return engine::listRuns(folder, further);
        },
        [this, of = m_session.directory(), edits = m_edits](std::vector<engine::RunInfo> runs) {
            --m_lists;
            if (edits != m_edits) {
                listRuns(); // this list may have the former names, tags and notes
            } else if (m_session.isOpen() && m_session.directory() == of) {
                takeList(std::move(runs));
            }
        });
}

void RunFollower::followAlso(const std::filesystem::path& run)
{
    if (!isHere(run)) {
        m_elsewhere[m_session.directory()].push_back(run);
    }
    show(run.string());
    listRuns();
}

/// A copy of a run outside the project is beside that run.
void RunFollower::listCopy(const std::filesystem::path& copy)
{
    const auto beside = [&](const std::filesystem::path& run) { return run.parent_path() == copy.parent_path(); };
    if (!isHere(copy) && std::ranges::any_of(runsElsewhere(), beside)) {
        m_elsewhere[m_session.directory()].push_back(copy);
    }
    listRuns();
}

/// Returns the known runs of the open project that are outside its folder.
std::vector<std::filesystem::path> RunFollower::runsElsewhere() const
{
    const auto found = m_elsewhere.find(m_session.directory());
    return found == m_elsewhere.end() ? std::vector<std::filesystem::path>() : found->second;
}

void RunFollower::takeList(std::vector<engine::RunInfo> runs)
{
    if (std::ranges::find(runs, m_shown.chosen(), &engine::RunInfo::directory) == runs.end()) {
        m_shown.choose({}); // it was removed
    }
    m_workspace.runsModel().setRuns(std::move(runs));
    const std::vector<engine::RunInfo>& known = m_workspace.runsModel().runs();
    if (m_shown.front().empty() && !known.empty()) { // no run is in front: shows the newest, unless it failed at once
        const auto hasOrGetsCurves = [](const engine::RunInfo& run) {
            return run.step > 0 || run.status != engine::RunStatus::Failed;
        };
        const auto newest = std::ranges::find_if(known, hasOrGetsCurves);
        show((newest == known.end() ? known.front() : *newest).directory);
    }
    for (const engine::RunInfo& run : known) {
        follow(run);
    }
    tellGrowing();
}

/// Passes the listed runs that are being trained to the views.
void RunFollower::tellGrowing()
{
    std::set<std::string> growing;
    for (const engine::RunInfo& run : m_workspace.runsModel().runs()) {
        if (run.status == engine::RunStatus::Running || run.status == engine::RunStatus::Paused) {
            growing.insert(run.directory);
        }
    }
    m_shown.setGrowing(std::move(growing));
}

bool RunFollower::isLive(const std::string& directory) const
{
    const RunPhase phase = m_controller.phase(); // at first the controller still has the earlier run's directory
    return phase != RunPhase::Idle && phase != RunPhase::Starting && m_controller.runDirectory() == directory;
}

/// Reads the new data of a run that the engine does not report.
void RunFollower::follow(const engine::RunInfo& run)
{
    const auto mark = m_marks.find(run.directory);
    if (isLive(run.directory)) {
        const bool grows = run.status == engine::RunStatus::Running || run.status == engine::RunStatus::Paused;
        if (grows && !m_reading.contains(run.directory)) { // otherwise the list may be of a time before it was resumed
            dropBefore(run.step);
        }
        tellPhase(); // the engine is ahead of the directory
    } else if (mark != m_marks.end() && run.step > std::max<std::int64_t>(mark->second.step, 0)) { // 0: no step yet
        load(run.directory, matricesOf(run.directory), mark->second);
    } else if (mark != m_marks.end() && run.step < mark->second.step) { // resumed from an earlier checkpoint
        request(run.directory);
    }
}

/// Reads a whole run.
void RunFollower::request(const std::string& directory)
{
    if (m_reading.insert(directory).second) {
        load(directory, directory == m_shown.front() ? Matrices::All : Matrices::OfCurves);
    }
}

/// Reads a run beyond `since` on a thread of the pool, so that a long one does not block the window.
void RunFollower::load(const std::string& directory, Matrices matrices, const RunMark& since)
{
    inBackground(
        this, [directory, matrices, since] { return loadRunRecord(directory, matrices, since); },
        [this, directory](const Result<RunRecord>& record) {
            record ? onLoaded(*record) : onFailed(directory, QString::fromStdString(record.error().text()));
        });
}

/// Returns the matrices of a shown run that the views draw.
Matrices RunFollower::matricesOf(const std::string& directory) const
{
    return directory == m_shown.front() || directory == m_comparedRead ? Matrices::All : Matrices::OfCurves;
}

/// Reads the matrices of the run to compare with once it is known: every run that is overlaid is it for a moment.
void RunFollower::readCompared()
{
    const auto mark = m_marks.find(m_shown.compared());
    if (m_reading.empty() && mark != m_marks.end() && m_comparedRead != mark->first) {
        m_comparedRead = mark->first;
        load(mark->first, Matrices::All, {mark->second.step, -1});
    }
}

/// Shows a run's matrices and overlays its curves.
void RunFollower::show(const std::string& directory)
{
    m_shown.bringToFront(directory);
    m_shown.overlay(directory);
}

void RunFollower::onStarted(const std::filesystem::path& directory)
{
    m_recent = {};
    if (isHere(directory)) {
        showLive();
        listRuns();
    }
}

/// True if the run belongs to the open project.
bool RunFollower::isHere(const std::filesystem::path& directory) const
{
    if (!m_session.isOpen() || m_session.isDraft()) {
        return false;
    }
    const std::filesystem::path within = directory.lexically_relative(m_session.directory() / projects::kRunsFolder);
    const bool inside = !within.empty() && *within.begin() != "..";
    return inside || std::ranges::count(runsElsewhere(), directory) > 0;
}

/// Shows the training run in every view instead of the chosen one.
void RunFollower::showLive()
{
    const std::string live = m_controller.runDirectory().string();
    if (m_shown.chosen() != live) {
        m_shown.choose({});
    }
    m_marks.erase(live);
    show(live);
    request(live); // a resumed run is shown already
}

void RunFollower::tellPhase()
{
    m_workspace.runsModel().setLive(m_controller.runDirectory().string(), statusOf(m_controller.phase()),
                                    m_controller.progress().step, m_controller.progress().loss);
    tellGrowing();
}

void RunFollower::onProgress(const engine::Progress& progress)
{
    if (!isHere(m_controller.runDirectory())) {
        m_recent = {};
        return; // another project has been opened meanwhile
    }
    tellPhase();
    engine::Progress numbers = progress;
    if (!numbers.steps.empty() && numbers.unitsPerSecond > 0) { // as the recorder writes them
        const std::int64_t step = numbers.steps.back().step;
        numbers.rows.push_back({engine::metric::kThroughput, step, numbers.unitsPerSecond});
        numbers.rows.push_back({engine::metric::kPeakBytes, step, static_cast<double>(numbers.peakBytes)});
    }
    if (!m_reading.contains(m_controller.runDirectory())) {
        m_shown.add(m_controller.runDirectory().string(), numbers);
    }
    engine::merge(m_recent, std::move(numbers));
}

/// Forgets the records of the live run before `step`, which its directory has.
void RunFollower::dropBefore(std::int64_t step)
{
    engine::eraseRecords(m_recent, [step](const auto& record) { return record.step < step; });
}

namespace {

/// Returns the names for the axes of matrices; empty without loops, where numbers are the names.
visualizers::ShownRuns::LayerNames namesOfLayers(const projects::Project& project)
{
    visualizers::ShownRuns::LayerNames names;
    if (project.stack().loops.empty()) {
        return names;
    }
    for (std::int64_t layer = 1; layer <= project.network.depth(); ++layer) {
        names.layers << QString::fromStdString(projects::layerName(project.stack(), layer));
    }
    projects::Project rows = project; // visits that share the wiring's weights have one row, but not in a mix
    if (!std::holds_alternative<projects::DepthMix>(project.stack().topology.wiring)) {
        std::erase_if(rows.stack().loops,
                      [](const projects::Loop& loop) { return loop.rows == projects::VisitRows::Layer; });
    }
    for (std::int64_t module = 0; module <= projects::modulesOf(rows); ++module) {
        names.entries << QString::fromStdString(projects::entryName(rows, module));
        names.readers << QString::fromStdString(projects::moduleName(rows, module + 1));
    }
    return names;
}

std::optional<projects::WorldData> worldOf(const projects::Project& project)
{
    const auto* const world = std::get_if<projects::WorldData>(&project.data.source);
    return world != nullptr ? std::optional(*world) : std::nullopt;
}

} // namespace

void RunFollower::onLoaded(const RunRecord& record)
{
    const std::string& directory = record.directory;
    // A run without recorded steps is also read since RunMark{} when only its matrices are wanted.
    const bool whole = record.since == RunMark{} && m_reading.contains(directory);
    if (whole && !record.faults.empty() && m_shown.find(directory)) {
        emit refused(
            tr("Of the run %1 a part is left out: %2")
                .arg(QString::fromStdString(record.name), QString::fromStdString(record.faults.front().text())));
    }
    if (whole) {
        m_reading.erase(directory);
        const std::string& tower = m_session.project().network.name;
        const std::size_t index = m_session.shownTower() == 0 ? 0 : projects::towerNamed(record.project, tower);
        const projects::Project view = projects::viewOf(record.project, index);
        m_shown.begin(directory,
                      {QString::fromStdString(record.name), record.flops, view.stack().topology, view.network.depth(),
                       startOf(directory), record.bounds, startOfFactors(record.project), record.classes,
                       QString::fromStdString(projects::wiringName(view.stack().topology, view.network)),
                       namesOfLayers(view), index == 0 ? std::string() : tower, worldOf(record.project)});
    }
    m_shown.add(directory, record.numbers);
    if (m_shown.front() == directory) {
        followFeature(record.lastCheckpoint);
    }
    if (m_shown.find(directory)) {
        tellRate(record);
        m_marks[directory] = record.mark();
    }
    if (m_controller.runDirectory() == directory) {
        dropBefore(record.mark().step);
        m_shown.add(directory, m_recent);
    }
    if (whole && m_comparedRead == directory) {
        m_comparedRead.clear(); // the views have forgotten its matrices
    }
    if (whole && directory == m_shown.front() && record.matrices != Matrices::All) {
        request(directory); // it came to the front while it was being read
    }
    readCompared();
}

/// Returns the start time of the run with seconds, because runs with one name may begin within a minute.
QString RunFollower::startOf(const std::string& directory) const
{
    const engine::RunInfo* run = m_workspace.runsModel().runAt(m_workspace.runsModel().indexOf(directory));
    const QString created = run ? QString::fromStdString(run->created) : QString();
    const QDateTime moment = QDateTime::fromString(created, Qt::ISODate).toLocalTime();
    const bool today = moment.date() == QDate::currentDate();
    return moment.toString(today ? QStringLiteral("HH:mm:ss") : QStringLiteral("yyyy-MM-dd HH:mm:ss"));
}

void RunFollower::onFailed(const std::string& directory, const QString& reason)
{
    m_reading.erase(directory);
    if (m_shown.find(directory)) { // otherwise it was moved to the trash while it was being read
        emit refused(reason);
    }
    if (m_controller.runDirectory() == directory) {
        m_shown.add(directory, m_recent);
    }
}

void RunFollower::tellRate(const RunRecord& record)
{
    const std::vector<engine::MetricRow>& rows = record.numbers.rows;
    const auto speed =
        std::ranges::find(rows.rbegin(), rows.rend(), engine::metric::kThroughput, &engine::MetricRow::name);
    if (speed != rows.rend() && record.flops.perUnit > 0) {
        const auto done = static_cast<double>(speed->step);
        const projects::FlopCourse& course = record.flops.course;
        const double share = projects::wholeSteps(course, done) - projects::wholeSteps(course, done - 1);
        emit rateKnown(speed->value * share * record.flops.perUnit);
    }
}

void RunFollower::showFeature(int feature)
{
    const std::string run = m_shown.front();
    m_featureStep = -1;
    if (m_session.shownTower() != 0) {
        m_workspace.shownMatrices().setFeature(feature, {});
        emit refused(tr("Single features are read from checkpoints of the first tower alone: show that one."));
        return;
    }
    inBackground(
        m_archive.thread(), this, [run, feature] { return engine::featureHistory(run, feature); },
        [this, run, feature](const Result<std::vector<engine::Matrix>>& history) {
            if (run != m_shown.front() || m_workspace.shownMatrices().wantedFeature() != feature) {
                return; // it was cancelled meanwhile
            }
            if (!history) {
                emit featureRefused(run, feature, QString::fromStdString(history.error().text()));
            }
            m_featureStep = history && !history->empty() ? history->back().step : -1;
            m_workspace.shownMatrices().setFeature(feature, history ? *history : std::vector<engine::Matrix>());
        });
}

/// A single feature's weights are only in the checkpoints, so each new one is read.
void RunFollower::followFeature(std::int64_t checkpoint)
{
    const std::optional<int> feature = m_workspace.shownMatrices().feature();
    if (!feature || m_featureStep < 0 || checkpoint <= m_featureStep) {
        return; // none is shown, or all of it is being read
    }
    const std::int64_t after = std::exchange(m_featureStep, checkpoint);
    inBackground(
        m_archive.thread(), this,
        [run = m_shown.front(), number = *feature, after] { return engine::featureHistory(run, number, after); },
        [this, run = m_shown.front(), feature](const Result<std::vector<engine::Matrix>>& history) {
            if (history && run == m_shown.front() && feature == m_workspace.shownMatrices().feature()) {
                m_workspace.shownMatrices().appendFeature(*history);
            }
        });
}

void RunFollower::onTrashed(const std::vector<TrashedRun>& runs)
{
    for (const TrashedRun& run : runs) {
        if (run.directory == m_shown.front()) {
            m_shown.bringToFront({});
        }
        m_shown.removeOverlay(run.directory);
    }
    listRuns();
}

} // namespace residua::app
