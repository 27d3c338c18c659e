// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/window_memory.h"

#include "app/actions/window_actions.h"
#include "app/commands/commands.h"
#include "app/document/document_session.h"
#include "app/records/runs_model.h"
#include "app/runs/run_table.h"
#include "app/runs/runs_panel.h"
#include "app/start/start_page.h"
#include "app/training/run_controller.h"
#include "app/workspace/workspace.h"
#include "engine/base/api/session.h"
#include "engine/runs/results/remotes.h"
#include "visualizers/plot/plot_view.h"
#include "visualizers/runs/shown_runs.h"

#include <QLayout>
#include <QMainWindow>
#include <QSettings>
#include <QUrl>
#include <QVariantMap>

#include <optional>
#include <utility>

namespace residua::app {
namespace {

QString keyOf(const std::filesystem::path& project)
{
    return QStringLiteral("overlays/") +
           QString::fromLatin1(QUrl::toPercentEncoding(QString::fromStdString(project.string())));
}

/// Remembers in the user's settings which runs of each project are overlaid, and overlays them
/// again when the project's runs are listed first. GUI thread.
class OverlayMemory : public QObject {
public:
    OverlayMemory(const DocumentSession& session, const RunsModel& runs, visualizers::ShownRuns& shown,
                  QObject* parent);

private:
    void restore();
    void keep() const;

    const DocumentSession& m_session;
    const RunsModel& m_runs;
    visualizers::ShownRuns& m_shown;
    std::filesystem::path m_restored; ///< the project whose overlays are those that are shown; empty: none
};

/// Remembers the place that the user has chosen for each project's runs, and sets it when the project is opened. A
/// project without a choice trains in the window's engine. While a run of another project is under way, the place stays
/// until that run ends. Without the user's settings, the places are forgotten when the window is destroyed. GUI thread.
class RemoteMemory : public QObject {
public:
    RemoteMemory(Memory memory, const DocumentSession& session, RunController& controller, QObject* parent);

private:
    void onOpened();
    void onChosen();
    void onStateChanged();
    void restore();
    void keep();

    Memory m_memory;
    const DocumentSession& m_session;
    RunController& m_controller;
    QVariantMap m_names;                        ///< of the places, by the project's path
    std::optional<std::filesystem::path> m_due; ///< the project whose place is still to be set
    std::filesystem::path m_project;            ///< the open project; empty for a draft
    QString m_chosen;                           ///< name of the open project's place; empty: the window's engine
};

QString nameKeyOf(const std::filesystem::path& project)
{
    return QString::fromStdString(project.string());
}

const QString kPlacesKey = QStringLiteral("runs/places");
const QString kThemeKey = QStringLiteral("window/dark");
const QString kGeometryKey = QStringLiteral("window/geometry");
const QString kDocksKey = QStringLiteral("window/docks");
const QString kExtentsKey = QStringLiteral("window/dockExtents");
const QString kRunColumnsKey = QStringLiteral("runs/columns");
const QString kExportFolderKey = QStringLiteral("export/folder");
const QString kExportFormatKey = QStringLiteral("export/format");
const QString kExportWidthKey = QStringLiteral("export/centimetres");
const QString kExportTextKey = QStringLiteral("export/text");
const QString kExportShapeKey = QStringLiteral("export/shape");

visualizers::ExportChoice exportChoiceOf(const QSettings& settings)
{
    const visualizers::ExportChoice usual;
    return {.folder = settings.value(kExportFolderKey).toString(),
            .format = settings.value(kExportFormatKey, usual.format).toString(),
            .shape = settings.value(kExportShapeKey, usual.shape).toSize(),
            .centimetres = settings.value(kExportWidthKey, usual.centimetres).toDouble(),
            .text = settings.value(kExportTextKey, usual.text).toDouble()};
}

void keep(const visualizers::ExportChoice& choice)
{
    QSettings settings;
    settings.setValue(kExportFolderKey, choice.folder);
    settings.setValue(kExportFormatKey, choice.format);
    settings.setValue(kExportShapeKey, choice.shape);
    settings.setValue(kExportWidthKey, choice.centimetres);
    settings.setValue(kExportTextKey, choice.text);
}

} // namespace

OverlayMemory::OverlayMemory(const DocumentSession& session, const RunsModel& runs, visualizers::ShownRuns& shown,
                             QObject* parent)
    : QObject(parent), m_session(session), m_runs(runs), m_shown(shown)
{
    // Closing a project removes its runs from the plots, but the user has not chosen that.
    connect(&session, &DocumentSession::aboutToClose, this, [this] { m_restored.clear(); });
    connect(&runs, &RunsModel::listed, this, &OverlayMemory::restore);
    connect(&shown, &visualizers::ShownRuns::overlaid, this, &OverlayMemory::keep);
    connect(&shown, &visualizers::ShownRuns::overlayRemoved, this, &OverlayMemory::keep);
}

void OverlayMemory::restore()
{
    if (m_session.directory().empty() || m_restored == m_session.directory() || m_runs.runs().empty()) {
        return;
    }
    const QVariantMap kept = QSettings().value(keyOf(m_session.directory())).toMap();
    for (const engine::RunInfo& run : m_runs.runs()) {
        if (kept.contains(QString::fromStdString(run.directory))) {
            m_shown.overlay(run.directory);
        }
    }
    m_restored = m_session.directory();
}

void OverlayMemory::keep() const
{
    if (m_restored.empty() || m_restored != m_session.directory()) {
        return;
    }
    QVariantMap kept;
    for (const visualizers::ShownRuns::Run& run : m_shown.runs()) {
        if (run.overlaid) {
            kept.insert(QString::fromStdString(run.key), true);
        }
    }
    QSettings().setValue(keyOf(m_session.directory()), kept);
}

RemoteMemory::RemoteMemory(Memory memory, const DocumentSession& session, RunController& controller, QObject* parent)
    : QObject(parent), m_memory(memory), m_session(session), m_controller(controller)
{
    if (memory == Memory::UserSettings) {
        m_names = QSettings().value(kPlacesKey).toMap();
    }
    connect(&session, &DocumentSession::opened, this, &RemoteMemory::onOpened);
    connect(&session, &DocumentSession::stateChanged, this, &RemoteMemory::onStateChanged);
    connect(&controller, &RunController::placeChosen, this, &RemoteMemory::onChosen);
    connect(&controller, &RunController::phaseChanged, this, &RemoteMemory::restore);
    connect(&controller, &RunController::queueChanged, this, &RemoteMemory::restore);
}

void RemoteMemory::onOpened()
{
    if (!m_session.isOpen()) {
        return;
    }
    m_project = m_session.directory();
    m_chosen = m_names.value(nameKeyOf(m_project)).toString();
    m_due = m_project;
    restore();
}

void RemoteMemory::onChosen()
{
    m_due.reset();
    m_chosen = QString::fromStdString(m_controller.place().name);
    keep();
}

/// A draft, or a copy of the project, gets a folder of its own.
void RemoteMemory::onStateChanged()
{
    if (m_session.isOpen() && m_session.directory() != m_project) {
        m_project = m_session.directory();
        keep();
    }
}

void RemoteMemory::restore()
{
    const bool trainsOn = m_controller.queued() > 0 && !m_controller.queueHeld();
    const bool stops = m_controller.phase() == RunPhase::Stopping; // the engine there still ends the run
    if (m_due != m_project || !m_controller.mayChangePlace() || trainsOn || stops) {
        return;
    }
    m_due.reset();
    const auto chosen = engine::chooseRemote(m_chosen.toStdString());
    const bool isListed = chosen && !chosen->isNew; // its name may have been removed from the list
    m_controller.setPlace(isListed ? chosen->place : engine::EngineRemote{});
}

void RemoteMemory::keep()
{
    if (m_project.empty()) {
        return;
    }
    if (m_chosen.isEmpty()) {
        m_names.remove(nameKeyOf(m_project));
    } else {
        m_names.insert(nameKeyOf(m_project), m_chosen);
    }
    if (m_memory == Memory::UserSettings) {
        QSettings().setValue(kPlacesKey, m_names);
    }
}

WindowMemory::WindowMemory(Memory memory, QMainWindow& window, Workspace& workspace)
    : QObject(&window), m_memory(memory), m_window(window), m_workspace(workspace)
{
}

void WindowMemory::followPlaces(const DocumentSession& session, RunController& controller)
{
    new RemoteMemory(m_memory, session, controller, this);
}

void WindowMemory::follow(const WindowActions& actions, const DocumentSession& session, Commands& commands)
{
    if (m_memory == Memory::None) {
        return;
    }
    commands.remember();
    m_window.restoreGeometry(QSettings().value(kGeometryKey).toByteArray());
    m_workspace.setExportChoice(exportChoiceOf(QSettings()));
    connect(&m_workspace, &Workspace::exportChosen, this, &keep);
    connect(actions.theme, &QAction::toggled, this, [](bool dark) { QSettings().setValue(kThemeKey, dark); });
    connect(&session, &DocumentSession::stateChanged, this, [this, &session] { rememberPlace(session); });
    RunTable& table = m_workspace.view<RunsPanel>().table();
    table.choose(QSettings().value(kRunColumnsKey).toStringList());
    connect(&table, &RunTable::chosen, this, [&table] { QSettings().setValue(kRunColumnsKey, table.choice()); });
    new OverlayMemory(session, m_workspace.runsModel(), m_workspace.shownRuns(), this);
}

/// The place may change when the document is opened, saved or trained.
void WindowMemory::rememberPlace(const DocumentSession& session)
{
    if (session.directory() != std::exchange(m_place, session.directory()) && !m_place.empty()) {
        rememberProject(QString::fromStdString(m_place.string()));
    }
}

void WindowMemory::arrange()
{
    if (std::exchange(m_arranged, true)) {
        return;
    }
    const QByteArray docks =
        m_memory == Memory::UserSettings ? QSettings().value(kDocksKey).toByteArray() : QByteArray();
    const QSize size = m_window.size();
    const bool restored = m_workspace.rearrange(docks, DockExtents::fromSetting(QSettings().value(kExtentsKey)));
    // A layout of a wider screen, or of a smaller scale, would make the window wider than the screen that it is on.
    if (!restored || m_workspace.minimumSizeHint().width() > size.width()) {
        m_workspace.arrange({}, size);
        m_window.layout()->activate(); // its least size has shrunk
        m_window.resize(size);
    }
}

void WindowMemory::keepLayout() const
{
    if (m_memory == Memory::None) {
        return;
    }
    QSettings().setValue(kGeometryKey, m_window.saveGeometry());
    if (m_arranged) { // otherwise they are as the last session left them
        QSettings().setValue(kDocksKey, m_workspace.saveState());
        QSettings().setValue(kExtentsKey, m_workspace.dockExtents().toSetting());
    }
}

} // namespace residua::app
