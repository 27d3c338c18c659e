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
    /// Collects the named commands that are currently in the menus. Only these have configurable keys.
    explicit Commands(QMainWindow& window);

    [[nodiscard]] KeyBindings& keys() { return m_keys; }
    /// Loads keys and recent palette entries from the user's settings, and stores changes from now on.
    void remember();
    /// Opens the palette with the commands, followed by the entries `further`.
    void showPalette(std::vector<PaletteEntry> further);
    void showKeys();

signals:
    /// Emitted to search the help for a text that the palette does not find.
    void helpWanted(const QString& text);

private:
    QMainWindow& m_window;
    KeyBindings m_keys;
    CommandPalette* m_palette;
};

/// Sets the button's tooltip to that of the command, with the command's current key.
void explain(QAbstractButton& button, const QAction& command);

} // namespace residua::app
