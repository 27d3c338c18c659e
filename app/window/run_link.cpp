// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/run_link.h"

#include "app/canvas/canvas_widget.h"
#include "app/document/document_session.h"
#include "app/runs/run_controller.h"
#include "app/runs/runs_panel.h"
#include "app/window/document_link.h"
#include "app/window/workspace.h"
#include "engine/api/run_reader.h"
#include "engine/api/run_upkeep.h"
#include "projects/store.h"
#include "visualizers/views.h"

#include <algorithm>
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

/// The applied weights by the port that reads them; "" where there is one.
std::map<std::string_view, const engine::Matrix*> newestByPort(const std::vector<engine::Matrix>& matrices)
{
    constexpr std::string_view kApplied = "mix";
    std::map<std::string_view, const engine::Matrix*> newest;
    for (const engine::Matrix& matrix : matrices) {
        std::string_view name = matrix.name;
        if (name != kApplied && !name.starts_with("mix/")) {
            continue;
        }
        name.remove_prefix(std::min(name.size(), kApplied.size() + 1));
        const engine::Matrix*& kept = newest[name];
        if (!kept || matrix.step >= kept->step) {
            kept = &matrix;
        }
    }
    return newest;
}

} // namespace

const engine::Matrix* shownMatrix(const std::vector<engine::Matrix>& matrices)
{
    const engine::Matrix* shown = nullptr;
    for (const engine::Matrix& matrix : matrices) {
        const std::string_view name = matrix.name;
        if (name == "mix" ||
            (name.starts_with("mix/") && (!shown || matrix.step > shown->step || matrix.name <= shown->name))) {
            shown = &matrix;
        }
    }
    return shown;
}

RunLink::RunLink(DocumentSession& session, RunController& controller, Workspace& workspace, DocumentLink& documents,
                 QObject* parent)
    : QObject(parent), m_session(session), m_controller(controller), m_workspace(workspace), m_documents(documents)
{
    m_watch.setInterval(kWatchMilliseconds); // runs of other processes
    connect(&m_watch, &QTimer::timeout, this, &RunLink::listRuns);
    connect(&session, &DocumentSession::opened, this, &RunLink::openAnew);
    connect(&session, &DocumentSession::changed, this, [this] {
        if (m_session.isOpen() && m_session.project().topology != m_topology) {
            m_workspace.outlineModel().clearLive();
        }
    });
    connect(&controller, &RunController::started, this, &RunLink::onStarted);
    connect(&controller, &RunController::progressed, this, &RunLink::onProgress);
    connect(&controller, &RunController::ended, this, &RunLink::listRuns);
    connect(&controller, &RunController::phaseChanged, this, [this] {
        if (m_controller.phase() == RunPhase::Paused || m_controller.phase() == RunPhase::Running) {
            m_workspace.runsModel().setLive(m_controller.runDirectory().string(), statusOf(m_controller.phase()),
                                            m_controller.progress().step, m_controller.progress().loss);
        }
    });
    connect(&workspace.runsModel(), &RunsModel::overlayChanged, this, &RunLink::setOverlaid);
    connect(&workspace.runs(), &RunsPanel::resumeRequested, this,
            [this](const std::string& directory) { m_controller.resume(directory); });
    connect(&workspace.runs(), &RunsPanel::showRequested, this, [this](const std::string& directory) {
        m_shown = directory;
        m_loader.load(directory);
    });
    connect(&workspace.runs(), &RunsPanel::forkRequested, &controller, &RunController::fork);
    connect(&controller, &RunController::forked, this, &RunLink::listRuns);
    connect(&workspace.runs(), &RunsPanel::compareRequested, this, &RunLink::compareRequested);
    connect(&workspace.runs(), &RunsPanel::removeRequested, this, &RunLink::remove);
    connect(&workspace.runsModel(), &RunsModel::annotated, this,
            [this](const std::string& directory, const std::vector<std::string>& tags, const std::string& notes) {
                if (const Status kept = engine::annotateRun(directory, tags, notes); !kept) {
                    emit refused(QString::fromStdString(kept.error().text()));
                }
            });
    connect(&m_loader, &RunLoader::loaded, this, &RunLink::onLoaded);
    connect(&m_loader, &RunLoader::failed, this, &RunLink::refused);
}

void RunLink::openAnew()
{
    m_workspace.loss().clear();
    m_workspace.metrics().clear();
    m_workspace.heatmap().clear();
    m_shown.clear();
    m_loading.clear();
    if (m_session.isOpen()) {
        m_topology = m_session.project().topology;
        m_watch.start();
    } else {
        m_watch.stop();
    }
    listRuns();
}

void RunLink::listRuns()
{
    std::vector<engine::RunInfo> runs;
    if (m_session.isOpen() && !m_session.isDraft()) {
        runs = engine::listRuns(m_session.directory() / projects::kRunsFolder);
    }
    m_documents.setRuns(runs);
    m_workspace.runsModel().setRuns(std::move(runs));
}

void RunLink::onStarted(const std::filesystem::path& directory)
{
    m_shown = directory.string();
    m_topology = m_session.project().topology;
    m_workspace.heatmap().clear();
    listRuns();
    const auto info = engine::RunReader::open(directory);
    const auto run = info ? info->info() : Result<engine::RunInfo>(Error{});
    m_workspace.loss().setRun(keyOf(directory), run ? QString::fromStdString(run->name) : keyOf(directory.filename()));
    m_workspace.metrics().setRun(keyOf(directory),
                                 run ? QString::fromStdString(run->name) : keyOf(directory.filename()));
    m_workspace.runsModel().setOverlaid(directory.string(), true);
}

void RunLink::onProgress(const engine::Progress& progress)
{
    const std::string directory = m_controller.runDirectory().string();
    if (m_workspace.runsModel().isOverlaid(directory)) {
        m_workspace.loss().append(keyOf(directory), progress.steps, progress.validations);
        showFigures(progress);
    }
    m_workspace.runsModel().setLive(directory, statusOf(m_controller.phase()), m_controller.progress().step,
                                    m_controller.progress().loss);
    if (m_shown != directory) {
        return;
    }
    m_workspace.heatmap().append(progress.matrices);
    showWeights(progress.matrices);
}

void RunLink::showFigures(const engine::Progress& progress)
{
    const QString key = keyOf(m_controller.runDirectory());
    m_workspace.metrics().append(key, progress.steps);
    if (!progress.steps.empty() && progress.unitsPerSecond > 0) {
        const std::int64_t step = progress.steps.back().step;
        m_workspace.metrics().append(key, engine::metric::kThroughput, {{step, progress.unitsPerSecond}});
        m_workspace.metrics().append(key, engine::metric::kPeakBytes,
                                     {{step, static_cast<double>(progress.peakBytes)}});
    }
}

void RunLink::showWeights(const std::vector<engine::Matrix>& matrices)
{
    if (m_session.project().topology != m_topology) {
        return; // the wiring was edited while the run goes on: these weights are not of this picture
    }
    const auto newest = newestByPort(matrices);
    for (CanvasWidget* canvas : m_workspace.canvases()) {
        for (const auto& [port, matrix] : newest) {
            editor::LiveValues live;
            live.port = port;
            live.mix = matrix->values;
            live.rows = matrix->rows;
            live.columns = matrix->columns;
            live.step = matrix->step;
            canvas->canvas().setLive(live);
        }
        canvas->refresh();
    }
    if (const engine::Matrix* mix = shownMatrix(matrices)) {
        m_workspace.outlineModel().setLive(*mix);
    }
}

void RunLink::remove(const std::string& directory)
{
    const auto trashed = engine::trashRun(directory);
    if (!trashed) {
        emit refused(QString::fromStdString(trashed.error().text()));
        return;
    }
    m_loading.erase(directory);
    m_workspace.runsModel().setOverlaid(directory, false);
    m_workspace.loss().removeRun(QString::fromStdString(directory));
    listRuns();
    emit removed(keyOf(std::filesystem::path(directory).filename()), *trashed);
}

void RunLink::restore(const std::filesystem::path& trashed)
{
    if (const auto back = engine::restoreRun(trashed); !back) {
        emit refused(QString::fromStdString(back.error().text()));
    }
    listRuns();
}

void RunLink::setOverlaid(const engine::RunInfo& run, bool overlaid)
{
    if (overlaid) {
        m_loading.insert(run.directory);
        m_loader.load(run.directory);
    } else {
        m_loading.erase(run.directory);
        m_workspace.loss().removeRun(QString::fromStdString(run.directory));
        m_workspace.metrics().removeRun(QString::fromStdString(run.directory));
    }
}

void RunLink::onLoaded(const std::shared_ptr<const RunRecord>& record)
{
    if (m_loading.erase(record->directory) > 0) {
        const QString key = QString::fromStdString(record->directory);
        m_workspace.loss().setRun(key, QString::fromStdString(record->name));
        m_workspace.loss().append(key, record->steps, record->validations);
        m_workspace.loss().setEvents(key, record->events);
        if (m_shown != record->directory) {
            m_workspace.heatmap().compareWith(QString::fromStdString(record->name), record->matrices);
        }
        m_workspace.metrics().setRun(key, QString::fromStdString(record->name));
        m_workspace.metrics().append(key, record->steps);
        for (const auto& [name, points] : record->figures) {
            m_workspace.metrics().append(key, name, points);
        }
    }
    if (m_shown == record->directory && m_controller.phase() == RunPhase::Idle) {
        m_workspace.heatmap().clear();
        m_workspace.heatmap().append(record->matrices);
        if (const auto reader = engine::RunReader::open(record->directory)) {
            const auto project = reader->project();
            m_topology = project ? project->topology : projects::Topology{};
        }
        showWeights(record->matrices);
    }
}

} // namespace residua::app
