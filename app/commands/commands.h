// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/commands/command_palette.h"
#include "app/commands/key_bindings.h"

#include <QObject>

class QAbstractButton;
class QAction;
class QMainWindow;

namespace residua::app {

/// Finds and rebinds the commands of a window's menus: the command palette and the page of keys.
class Commands : public QObject {
    Q_OBJECT
public:
    /// Takes the commands that are in the menus now and have a name; those are the ones with keys.
    explicit Commands(QMainWindow& window);

    [[nodiscard]] KeyBindings& keys() { return m_keys; }
    /// Keys, and what the palette found last, are read from and written to the user's settings from now on.
    void remember();
    /// Opens the palette with the commands, and after them what else can be found.
    void showPalette(std::vector<PaletteEntry> further);
    void showKeys();

private:
    QMainWindow& m_window;
    KeyBindings m_keys;
    CommandPalette* m_palette;
};

/// Has the tooltip of a button that does what the command does say so, with the key that the command has now.
void explain(QAbstractButton& button, const QAction& command);

} // namespace residua::app
