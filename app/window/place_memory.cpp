// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/place_memory.h"

#include "app/document/document_session.h"
#include "app/training/run_controller.h"
#include "engine/api/session.h"
#include "engine/results/engine_places.h"

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

PlaceMemory::PlaceMemory(Storage storage, const DocumentSession& session, RunController& controller, QObject* parent)
    : QObject(parent), m_storage(storage), m_session(session), m_controller(controller)
{
    if (storage == Storage::Settings) {
        m_names = QSettings().value(kPlacesKey).toMap();
    }
    connect(&session, &DocumentSession::opened, this, &PlaceMemory::onOpened);
    connect(&session, &DocumentSession::stateChanged, this, &PlaceMemory::onStateChanged);
    connect(&controller, &RunController::placeChosen, this, &PlaceMemory::onChosen);
    connect(&controller, &RunController::phaseChanged, this, &PlaceMemory::restore);
}

void PlaceMemory::onOpened()
{
    if (!m_session.isOpen()) {
        return;
    }
    m_project = m_session.directory();
    m_chosen = m_names.value(nameKeyOf(m_project)).toString();
    m_due = m_project;
    restore();
}

void PlaceMemory::onChosen()
{
    m_due.reset();
    m_chosen = QString::fromStdString(m_controller.place().name);
    keep();
}

/// A draft, or a copy of the project, gets a folder of its own.
void PlaceMemory::onStateChanged()
{
    if (m_session.isOpen() && m_session.directory() != m_project) {
        m_project = m_session.directory();
        keep();
    }
}

void PlaceMemory::restore()
{
    if (m_due != m_project || !m_controller.mayChangePlace() || m_controller.queued() > 0) {
        return;
    }
    m_due.reset();
    const auto chosen = engine::choosePlace(m_chosen.toStdString());
    const bool isListed = chosen && !chosen->isNew; // its name may have been removed from the list
    m_controller.setPlace(isListed ? chosen->place : engine::EnginePlace{});
}

void PlaceMemory::keep()
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
