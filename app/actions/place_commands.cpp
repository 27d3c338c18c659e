// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/place_commands.h"

#include "app/document/document_session.h"
#include "app/engine/engine_bridge.h"
#include "app/runs/places_dialog.h"
#include "app/training/run_controller.h"
#include "engine/results/engine_places.h"
#include "engine/results/run_reader.h"

#include <QActionGroup>
#include <QMenu>

#include <filesystem>
#include <utility>

namespace residua::app {

PlaceCommands::PlaceCommands(QMenu& menu, const DocumentSession& session, EngineBridge& engine,
                             RunController& controller, QWidget* window)
    : QObject(window),
      m_menu(menu),
      m_session(session),
      m_engine(engine),
      m_controller(controller),
      m_window(window),
      m_choices(new QActionGroup(this))
{
    menu.setToolTipsVisible(true);
    add(tr("This &window's engine"), tr("A run stops at a checkpoint when the window closes"), {})
        ->setObjectName(QStringLiteral("trainHere"));
    add(tr("The &background"), tr("A run continues when the window closes, and the next window finds it"),
        engine::backgroundPlace())
        ->setObjectName(QStringLiteral("trainInBackground"));
    m_end = menu.addSeparator();
    QAction* edit = menu.addAction(tr("&Edit places…"));
    edit->setObjectName(QStringLiteral("editPlaces"));
    edit->setToolTip(tr("Name the command lines that start an engine elsewhere"));
    connect(edit, &QAction::triggered, this, &PlaceCommands::edit);
    fill();
    connect(&menu, &QMenu::aboutToShow, this, &PlaceCommands::fill);
    connect(&engine, &EngineBridge::placeChanged, &engine, &EngineBridge::listDevices);
    connect(&session, &DocumentSession::opened, this, &PlaceCommands::findRun);
}

/// Shows the named places, and which place is chosen.
void PlaceCommands::fill()
{
    qDeleteAll(std::exchange(m_named, {}));
    const auto places = engine::namedPlaces();
    if (places) {
        for (const engine::EnginePlace& place : *places) {
            m_named.append(add(QString::fromStdString(place.name), QString::fromStdString(place.command), place));
        }
    }
    for (QAction* choice : m_choices->actions()) {
        choice->setChecked(choice->data().toString() == QString::fromStdString(m_engine.place().name));
    }
    m_choices->setEnabled(m_controller.mayChangePlace());
}

QAction* PlaceCommands::add(const QString& text, const QString& toolTip, const engine::EnginePlace& place)
{
    auto* choice = new QAction(text, this);
    choice->setToolTip(toolTip);
    choice->setCheckable(true);
    choice->setData(QString::fromStdString(place.name));
    choice->setActionGroup(m_choices);
    connect(choice, &QAction::triggered, this, [this, place] { m_controller.setPlace(place); });
    m_menu.insertAction(m_end, choice);
    return choice;
}

void PlaceCommands::edit()
{
    const auto places = engine::namedPlaces();
    if (!places) {
        emit refused(QString::fromStdString(places.error().text()));
        return;
    }
    auto* dialog = new PlacesDialog(*places, m_window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog] {
        if (const Status kept = engine::keepNamedPlaces(dialog->places()); !kept) {
            emit refused(QString::fromStdString(kept.error().text()));
        }
        fill();
    });
    dialog->show();
}

void PlaceCommands::findRun()
{
    if (!m_session.isOpen() || m_session.isDraft() || m_engine.outlivesWindow() ||
        m_controller.phase() != RunPhase::Idle) {
        return;
    }
    const std::filesystem::path run = engine::backgroundRun();
    const auto project = run.empty() ? Result<std::filesystem::path>(Error{}) : engine::projectDirectoryOf(run);
    if (project && *project == m_session.directory()) {
        m_controller.setPlace(engine::backgroundPlace());
        emit noted(tr("The background trains a run of this project"));
    }
}

} // namespace residua::app
