// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/remote_memory.h"

#include "app/document/document_session.h"
#include "app/training/run_controller.h"
#include "engine/base/api/session.h"
#include "engine/runs/results/remotes.h"

#include <QSettings>
#include <QString>

namespace residua::app {

namespace {

const QString kPlacesKey = QStringLiteral("runs/places");

QString nameKeyOf(const std::filesystem::path& project)
{
    return QString::fromStdString(project.string());
}

} // namespace

RemoteMemory::RemoteMemory(Storage storage, const DocumentSession& session, RunController& controller, QObject* parent)
    : QObject(parent), m_storage(storage), m_session(session), m_controller(controller)
{
    if (storage == Storage::Settings) {
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
    if (m_storage == Storage::Settings) {
        QSettings().setValue(kPlacesKey, m_names);
    }
}

} // namespace residua::app
