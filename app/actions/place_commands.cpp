// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/command_groups.h"

#include "app/document/document_session.h"
#include "app/engine/engine_bridge.h"
#include "app/runs/places_dialog.h"
#include "app/training/run_controller.h"
#include "engine/api/session.h"
#include "engine/results/engine_places.h"
#include "engine/results/run_reader.h"

#include <QActionGroup>
#include <QCoreApplication>
#include <QList>
#include <QMenu>
#include <QString>

#include <filesystem>
#include <utility>

namespace residua::app {
namespace {

class PlaceCommands : public CommandGroup {
    Q_DECLARE_TR_FUNCTIONS(PlaceCommands)
public:
    explicit PlaceCommands(const WindowParts& parts);

private:
    void fill();
    QAction* add(const QString& text, const QString& toolTip, const engine::EnginePlace& place);
    void edit();
    void findRun();

    QMenu& m_menu;
    QActionGroup* m_choices;
    QAction* m_end = nullptr; ///< separates the places from the commands
    QList<QAction*> m_named;
};

} // namespace

PlaceCommands::PlaceCommands(const WindowParts& parts)
    : CommandGroup(parts), m_menu(*m_menus.places), m_choices(new QActionGroup(this))
{
    m_menu.setToolTipsVisible(true);
    add(tr("This &window's engine"), tr("A run stops at a checkpoint when the window closes"), {})
        ->setObjectName(QStringLiteral("trainHere"));
    add(tr("The &background"), tr("A run continues when the window closes, and the next window finds it"),
        engine::backgroundPlace())
        ->setObjectName(QStringLiteral("trainInBackground"));
    m_end = m_menu.addSeparator();
    QAction* edit = m_menu.addAction(tr("&Edit places…"));
    edit->setObjectName(QStringLiteral("editPlaces"));
    edit->setToolTip(tr("Name the command lines that start an engine elsewhere"));
    connect(edit, &QAction::triggered, this, &PlaceCommands::edit);
    fill();
    connect(&m_menu, &QMenu::aboutToShow, this, &PlaceCommands::fill);
    connect(&m_engine, &EngineBridge::placeChanged, &m_engine, &EngineBridge::listDevices);
    connect(&m_session, &DocumentSession::opened, this, &PlaceCommands::findRun);
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
        refuse(QString::fromStdString(places.error().text()));
        return;
    }
    auto* dialog = new PlacesDialog(*places, m_window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog] {
        if (const Status kept = engine::keepNamedPlaces(dialog->places()); !kept) {
            refuse(QString::fromStdString(kept.error().text()));
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
        note(tr("The background trains a run of this project"));
    }
}

void addPlaceCommands(const WindowParts& parts)
{
    new PlaceCommands(parts);
}

} // namespace residua::app
