// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/commands.h"

#include "app/commands/command_palette.h"
#include "app/commands/keys_dialog.h"

#include <QAbstractButton>
#include <QAction>
#include <QMainWindow>
#include <QMenuBar>
#include <QSettings>

namespace residua::app {

namespace {

QList<QAction*> namedActions(const QMenuBar& bar)
{
    QList<QAction*> actions;
    for (const MenuCommand& command : commandsOf(bar)) {
        if (!command.action->objectName().isEmpty()) {
            actions << command.action;
        }
    }
    return actions;
}

} // namespace

Commands::Commands(QMainWindow& window)
    : QObject(&window),
      m_window(window),
      m_keys(namedActions(*window.menuBar())),
      m_palette(new CommandPalette(&window))
{
}

void Commands::remember()
{
    m_keys.load(QSettings());
    connect(&m_keys, &KeyBindings::keysChanged, this, [this] {
        QSettings settings;
        m_keys.store(settings);
    });
}

void Commands::showPalette()
{
    m_palette->open(commandsOf(*m_window.menuBar()));
}

void Commands::showKeys()
{
    auto* dialog = m_window.findChild<KeysDialog*>();
    if (!dialog) {
        dialog = new KeysDialog(m_keys, &m_window);
    }
    dialog->show();
    dialog->raise();
    dialog->activateWindow();
}

void explain(QAbstractButton& button, const QAction& command)
{
    const auto tell = [&button, &command] { button.setToolTip(command.toolTip()); };
    QObject::connect(&command, &QAction::changed, &button, tell);
    tell();
}

} // namespace residua::app
