// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/run_link.h"

#include "app/canvas/canvas_widget.h"
#include "app/document/document_session.h"
#include "app/engine/engine_bridge.h"
#include "app/runs/background.h"
#include "app/runs/run_archive.h"
#include "app/runs/run_controller.h"
#include "app/runs/runs_panel.h"
#include "app/runs/shown_matrices.h"
#include "app/window/document_link.h"
#include "app/window/workspace.h"
#include "engine/api/matrix_name.h"
#include "engine/results/coefficients.h"
#include "engine/results/run_reader.h"
#include "projects/file/store.h"
#include "visualizers/heatmap/heatmap_view.h"
#include "visualizers/runs/loss_view.h"
#include "visualizers/runs/metrics_view.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

namespace residua::app {

namespace {

constexpr int kWatchMilliseconds = 2000;

QString keyOf(const std::filesystem::path& directory)
{
    return QString::fromStdString(directory.string());
}

engine::RunStatus statusOf(RunPhase phase)
{
    return phase == RunPhase::Paused ? engine::RunStatus::Paused : engine::RunStatus::Running;
}

editor::LiveValues liveOf(projects::MixPort port, const engine::Matrix& matrix, editor::LiveMeasure measure)
{
    editor::LiveValues live;
    live.port = port;
    live.mix = matrix.values;
    live.rows = matrix.rows;
    live.columns = matrix.columns;
    live.step = matrix.step;
    live.measure = measure;
    return live;
}

} // namespace

RunLink::RunLink(DocumentSession& session, RunController& controller, RunArchive& archive, Workspace& workspace,
                 DocumentLink& documents, QObject* parent)
    : QObject(parent),
      m_session(session),
      m_controller(controller),
      m_archive(archive),
      m_workspace(workspace),
      m_documents(documents),
      m_live(workspace)
{
    m_watch.setInterval(kWatchMilliseconds); // runs of other processes
    connect(&m_watch, &QTimer::timeout, this, &RunLink::listRuns);
    connect(&session, &DocumentSession::opened, this, &RunLink::openAnew);
    connect(&session, &DocumentSession::changed, this, [this] {
        if (!m_session.isOpen()) {
            return;
        }
        const std::int64_t depth = m_session.project().network.depth();
        if (m_session.project().topology != m_topology || std::exchange(m_depth, depth) != depth) {
            m_live.clear(); // they are of another picture
        }
    });
    connect(&m_loader, &RunLoader::loaded, this, &RunLink::onLoaded);
    connect(&m_loader, &RunLoader::failed, this, &RunLink::onFailed);
    connect(&workspace.heatmap(), &visualizers::HeatmapView::featureWanted, this, &RunLink::showFeature);
    connectController();
    connectRuns();
}

void RunLink::connectController()
{
    connect(&m_controller, &RunController::started, this, &RunLink::onStarted);
    connect(&m_controller, &RunController::progressed, this, &RunLink::onProgress);
    connect(&m_controller, &RunController::ended, this, &RunLink::listRuns);
    connect(&m_controller, &RunController::forked, this, &RunLink::listRuns);
    connect(&m_controller, &RunController::phaseChanged, this, [this] {
        if (m_controller.phase() == RunPhase::Paused || m_controller.phase() == RunPhase::Running) {
            m_workspace.runsModel().setLive(m_controller.runDirectory().string(), statusOf(m_controller.phase()),
                                            m_controller.progress().step, m_controller.progress().loss);
        }
    });
}

void RunLink::connectRuns()
{
    const RunsPanel& panel = m_workspace.runs();
    connect(&panel, &RunsPanel::resumeRequested, &m_controller, &RunController::resume);
    connect(&panel, &RunsPanel::forkRequested, &m_controller, &RunController::fork);
    connect(&panel, &RunsPanel::compareRequested, &m_archive, &RunArchive::compare);
    connect(&panel, &RunsPanel::showRequested, this, [this](const std::string& directory) {
        m_shown = directory;
        m_loader.load(directory);
    });
    connect(&m_workspace.runsModel(), &RunsModel::overlayChanged, this,
            [this](const engine::RunInfo& run, bool overlaid) {
                overlaid ? request(run.directory) : hideRun(run.directory);
            });
    connect(&m_workspace.runsModel(), &RunsModel::annotated, &m_archive, &RunArchive::annotate);
    connect(&m_archive, &RunArchive::trashed, this, &RunLink::onTrashed);
    connect(&m_archive, &RunArchive::restored, this, &RunLink::listRuns);
}

void RunLink::openAnew()
{
    m_workspace.loss().clear();
    m_workspace.metrics().clear();
    m_workspace.heatmap().clear();
    compareHeatmapWith({}, {}, {});
    m_workspace.runsModel().clearOverlays();
    m_shown.clear();
    m_wanted.clear();
    m_marks.clear();
    m_pending.reset();
    m_live.clear();
    if (m_session.isOpen()) {
        m_topology = m_session.project().topology;
        m_depth = m_session.project().network.depth();
        m_watch.start();
    } else {
        m_watch.stop();
    }
    takeList({});
    if (m_controller.phase() != RunPhase::Idle && isHere(m_controller.runDirectory())) {
        showLive(); // back at the project that is being trained
    }
    listRuns();
}

void RunLink::listRuns()
{
    constexpr int kEnough = 2; // one is being read, one follows it
    if (m_lists >= kEnough || !m_session.isOpen() || m_session.isDraft()) {
        return;
    }
    ++m_lists;
    inBackground(
        m_archive.thread(), this,
        [folder = m_session.directory() / projects::kRunsFolder] { return engine::listRuns(folder); },
        [this, of = m_session.directory()](std::vector<engine::RunInfo> runs) {
            --m_lists;
            if (m_session.isOpen() && m_session.directory() == of) {
                takeList(std::move(runs));
            }
        });
}

void RunLink::takeList(std::vector<engine::RunInfo> runs)
{
    m_documents.setRuns(runs);
    m_workspace.runsModel().setRuns(std::move(runs));
    const std::vector<engine::RunInfo>& known = m_workspace.runsModel().runs();
    if (m_shown.empty() && !known.empty()) { // just opened, or what was shown is in the trash: the newest
        m_shown = known.front().directory;
        m_workspace.runsModel().setOverlaid(m_shown, true);
        request(m_shown);
    }
    for (const engine::RunInfo& run : known) {
        follow(run);
    }
}

bool RunLink::isLive(const std::string& directory) const
{
    return m_controller.phase() != RunPhase::Idle && m_controller.runDirectory() == directory;
}

/// Reads what a run has grown by. The engine tells its own run's numbers itself, but not its events.
void RunLink::follow(const engine::RunInfo& run)
{
    const auto mark = m_marks.find(run.directory);
    if (mark == m_marks.end()) {
        return;
    }
    if (isLive(run.directory)) {
        m_loader.load(run.directory, kKnownButEvents);
    } else if (run.step > mark->second.step) {
        m_loader.load(run.directory, mark->second);
    } else if (run.step < mark->second.step) { // gone on with from an earlier checkpoint
        request(run.directory);
    }
}

/// What the engine tells of the run meanwhile waits for what came before it.
void RunLink::request(const std::string& directory)
{
    m_wanted.insert(directory);
    if (isLive(directory)) {
        m_pending.emplace();
    }
    m_loader.load(directory);
}

void RunLink::onStarted(const std::filesystem::path& directory)
{
    if (isHere(directory)) {
        showLive();
        listRuns();
    }
}

/// Of the open project.
bool RunLink::isHere(const std::filesystem::path& directory) const
{
    if (!m_session.isOpen() || m_session.isDraft()) {
        return false;
    }
    const std::filesystem::path within = directory.lexically_relative(m_session.directory() / projects::kRunsFolder);
    return !within.empty() && *within.begin() != "..";
}

/// The run that trains, in every view.
void RunLink::showLive()
{
    m_shown = m_controller.runDirectory().string();
    m_marks.erase(m_shown);
    m_workspace.runsModel().setOverlaid(m_shown, true);
    m_workspace.heatmap().clear();
    request(m_shown);
}

/// No run's matrices are in the views.
void RunLink::showNone()
{
    m_shown.clear();
    m_workspace.heatmap().clear();
    m_live.clear();
}

void RunLink::onProgress(const engine::Progress& progress)
{
    if (!isHere(m_controller.runDirectory())) {
        return; // another project is open meanwhile
    }
    m_workspace.runsModel().setLive(m_controller.runDirectory().string(), statusOf(m_controller.phase()),
                                    m_controller.progress().step, m_controller.progress().loss);
    if (m_pending) {
        merge(*m_pending, progress);
    } else {
        showProgress(progress);
    }
}

void RunLink::showProgress(const engine::Progress& progress)
{
    const std::string directory = m_controller.runDirectory().string();
    if (m_workspace.runsModel().isOverlaid(directory)) {
        const QString key = keyOf(directory);
        m_workspace.loss().append(key, progress.steps, progress.validations);
        m_workspace.metrics().append(key, progress.steps);
        m_workspace.metrics().append(key, progress.matrices);
        if (!progress.steps.empty() && progress.unitsPerSecond > 0) {
            const std::int64_t step = progress.steps.back().step;
            m_workspace.metrics().append(key, engine::metric::kThroughput, {{step, progress.unitsPerSecond}});
            m_workspace.metrics().append(key, engine::metric::kPeakBytes,
                                         {{step, static_cast<double>(progress.peakBytes)}});
        }
    }
    if (m_shown == directory) {
        m_workspace.heatmap().append(progress.matrices);
        showWeights(progress.matrices);
    }
}

void RunLink::applyPending()
{
    if (const auto pending = std::exchange(m_pending, std::nullopt)) {
        showProgress(*pending);
    }
}

void RunLink::showWeights(const std::vector<engine::Matrix>& matrices)
{
    if (m_session.project().topology != m_topology) {
        return; // the wiring was edited while the run goes on: these weights are not of this picture
    }
    const std::vector<std::uint8_t> active = newestActive(matrices);
    std::vector<editor::LiveValues> told(1);
    told.front().active = active;
    for (const auto& [kind, measure] : {std::pair(engine::matrix::kMix, editor::LiveMeasure::Mean),
                                        std::pair(engine::matrix::kSpread, editor::LiveMeasure::Spread)}) {
        for (const auto& [port, matrix] : newestByPort(matrices, kind)) {
            told.push_back(liveOf(port, *matrix, measure));
        }
    }
    m_live.show(told, m_session.project());
}

/// The newest of a single feature's weights; what was shown of another goes.
void RunLink::tellFeature(int feature, const std::vector<engine::Matrix>& history)
{
    if (m_session.project().topology != m_topology) {
        return;
    }
    std::vector<editor::LiveValues> told;
    for (const auto& [port, matrix] : newestByPort(history)) {
        told.push_back(liveOf(port, *matrix, editor::LiveMeasure::Feature));
        told.back().feature = feature;
    }
    m_live.showFeature(told, m_session.project());
}

void RunLink::onLoaded(const std::shared_ptr<const RunRecord>& record)
{
    const bool whole = record->since == RunMark{};
    if (whole && !record->faults.empty()) {
        emit refused(
            tr("Of the run %1 a part is left out: %2")
                .arg(QString::fromStdString(record->name), QString::fromStdString(record->faults.front().text())));
    }
    const bool overlaid =
        whole ? m_wanted.erase(record->directory) > 0 : m_workspace.runsModel().isOverlaid(record->directory);
    if (overlaid) {
        showRun(*record);
    }
    if (m_shown == record->directory) {
        showMatrices(*record);
        followFeature(record->events);
    }
    if (record->since != kKnownButEvents && (overlaid || m_shown == record->directory)) {
        m_marks[record->directory] = record->mark();
    }
    if (whole && isLive(record->directory)) {
        applyPending();
    }
}

void RunLink::onFailed(const std::string& directory, const QString& reason)
{
    m_wanted.erase(directory);
    emit refused(reason);
    if (isLive(directory)) {
        applyPending();
    }
}

/// All of a run, or what it has grown by.
void RunLink::showRun(const RunRecord& record)
{
    const QString key = keyOf(record.directory);
    const QString name = QString::fromStdString(record.name);
    visualizers::LossView& loss = m_workspace.loss();
    visualizers::MetricsView& metrics = m_workspace.metrics();
    loss.setRun(key, name);
    m_workspace.runsModel().setColour(record.directory, loss.colourOf(key));
    if (record.flopPerUnit > 0) {
        loss.setFlopPerUnit(key, record.flopPerUnit);
        metrics.setFlopPerUnit(key, record.flopPerUnit);
    }
    loss.append(key, record.steps, record.validations);
    loss.setEvents(key, record.events);
    metrics.setRun(key, name);
    metrics.append(key, record.steps);
    metrics.append(key, record.matrices);
    metrics.setEvents(key, record.events);
    for (const auto& [figure, points] : record.figures) {
        metrics.append(key, figure, points);
    }
    const auto speed = record.figures.find(engine::metric::kThroughput);
    if (speed != record.figures.end() && !speed->second.empty() && record.flopPerUnit > 0) {
        emit rateKnown(speed->second.back().value * record.flopPerUnit);
    }
    if (record.since == RunMark{} && m_shown != record.directory) {
        compareHeatmapWith(record.directory, name, record.matrices);
    }
}

void RunLink::hideRun(const std::string& directory)
{
    m_wanted.erase(directory);
    m_marks.erase(directory);
    m_workspace.loss().removeRun(keyOf(directory));
    m_workspace.metrics().removeRun(keyOf(directory));
    if (m_compared == directory) {
        compareHeatmapWith({}, {}, {});
    }
}

void RunLink::compareHeatmapWith(const std::string& directory, const QString& name,
                                 const std::vector<engine::Matrix>& matrices)
{
    m_compared = directory;
    m_workspace.heatmap().compareWith(name, matrices);
}

void RunLink::showMatrices(const RunRecord& record)
{
    if (record.since == RunMark{}) {
        if (m_compared == record.directory) {
            compareHeatmapWith({}, {}, {}); // not with itself
        }
        m_workspace.heatmap().clear();
        m_topology = record.project.topology;
        m_workspace.heatmap().setWiring(m_topology.wiring);
    }
    m_workspace.heatmap().append(record.matrices);
    showWeights(record.matrices);
}

void RunLink::showFeature(int feature)
{
    const std::string run = m_shown;
    m_featureStep = -1;
    inBackground(
        m_archive.thread(), this, [run, feature] { return engine::featureHistory(run, feature); },
        [this, run, feature](const Result<std::vector<engine::Matrix>>& history) {
            if (!history) {
                emit refused(QString::fromStdString(history.error().text()));
            }
            if (run == m_shown) {
                m_featureStep = history && !history->empty() ? history->back().step : -1;
                m_workspace.heatmap().setFeature(feature, history ? *history : std::vector<engine::Matrix>());
                if (history) {
                    tellFeature(feature, *history);
                }
            }
        });
}

/// A single feature's weights are in the checkpoints alone: each new one is read.
void RunLink::followFeature(const std::vector<engine::RunEvent>& events)
{
    const std::optional<int> feature = m_workspace.heatmap().feature();
    const auto isNew = [this](const engine::RunEvent& event) {
        return event.kind == engine::RunEventKind::Checkpoint && event.step > m_featureStep;
    };
    if (!feature || m_featureStep < 0 || std::ranges::none_of(events, isNew)) {
        return; // none is shown, or all of it is being read
    }
    const std::int64_t after = m_featureStep;
    const auto last = std::ranges::max_element(events, {}, &engine::RunEvent::step);
    m_featureStep = std::max(after, last->step);
    inBackground(
        m_archive.thread(), this,
        [run = m_shown, number = *feature, after] { return engine::featureHistory(run, number, after); },
        [this, run = m_shown, feature](const Result<std::vector<engine::Matrix>>& history) {
            if (history && run == m_shown && feature == m_workspace.heatmap().feature()) {
                m_workspace.heatmap().appendFeature(*history);
                tellFeature(*feature, *history);
            }
        });
}

void RunLink::onTrashed(const std::vector<TrashedRun>& runs)
{
    for (const TrashedRun& run : runs) {
        m_workspace.runsModel().setOverlaid(run.directory, false);
        hideRun(run.directory);
        if (run.directory == m_shown) {
            showNone();
        }
    }
    listRuns();
}

std::string RunLink::chosenRun() const
{
    const std::string current = m_workspace.runs().currentDirectory();
    return current.empty() ? m_shown : current;
}

QString RunLink::chosenRunName() const
{
    const engine::RunInfo* run = m_workspace.runsModel().runAt(m_workspace.runsModel().indexOf(chosenRun()));
    return run ? QString::fromStdString(run->name) : QString();
}

} // namespace residua::app
