// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/commands.h"

#include <QAbstractButton>
#include <QAction>
#include <QMainWindow>
#include <QMenuBar>
#include <QPointer>
#include <QSettings>

#include <algorithm>
#include <iterator>
#include <utility>

namespace residua::app {

namespace {

constexpr const char* kRecent = "palette/recent"; ///< in the user's settings

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
    connect(m_palette, &CommandPalette::helpWanted, this, &Commands::helpWanted);
}

void Commands::remember()
{
    m_keys.load(QSettings());
    connect(&m_keys, &KeyBindings::keysChanged, this, [this] {
        QSettings settings;
        m_keys.store(settings);
    });
    m_palette->setRecent(QSettings().value(kRecent).toStringList());
    connect(m_palette, &CommandPalette::recentChanged, this,
            [this] { QSettings().setValue(kRecent, m_palette->recent()); });
}

void Commands::showPalette(std::vector<PaletteEntry> further)
{
    std::vector<PaletteEntry> entries;
    for (const MenuCommand& command : commandsOf(*m_window.menuBar())) {
        const QPointer<QAction> action(command.action);
        PaletteEntry entry;
        entry.text = command.path;
        entry.id = action->objectName().isEmpty() ? command.path : action->objectName();
        entry.toolTip = action->statusTip();
        entry.isEnabled = action->isEnabled();
        entry.note = [keys = action->shortcut().toString(QKeySequence::NativeText)] { return keys; };
        entry.take = [action] {
            if (action) {
                action->trigger();
            }
        };
        entries.push_back(std::move(entry));
    }
    std::ranges::move(further, std::back_inserter(entries));
    m_palette->open(std::move(entries));
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
