// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/commands/typed_popup.h"

#include <QList>
#include <QStringList>

#include <functional>
#include <optional>
#include <vector>

class QAction;
class QMenuBar;

namespace residua::app {

/// A command with its path in the menus.
struct MenuCommand {
    QString path; ///< "File › New from example › ANCRe"
    QAction* action = nullptr;
};
/// Returns every command of the menus in order.
[[nodiscard]] QList<MenuCommand> commandsOf(const QMenuBar& bar);

/// An entry of the palette: a command, a topology or a field.
struct PaletteEntry {
    QString text; ///< the searched text: "File › Open", "Training › steps"
    QString id;   ///< stable; identifies recently used entries
    QString toolTip;
    bool isEnabled = true;
    std::function<QString()> note; ///< text at the row's end: a key, a price, a value; called when the row is shown
    std::function<void()> take;
    QString key = {}; ///< searched too, after the text: the JSON pointer of a field
};

/// The texts of an entry that are searched, the best first.
struct SearchedTexts {
    QString text;
    QString key = {};
    QString help = {};
};

/// Returns a rank that tells how well an entry matches the words, which may be in any order; a lower rank is better. A
/// whole word is better than the beginning of a word, and that is better than a part inside a word. A match in the last
/// part of a path is better than one in its menus, and a match in the text is better than one in the key. In the key, a
/// dot matches a slash ("training.batch"). In the help, words match where they begin. Returns nullopt if a word is in
/// none of the texts.
[[nodiscard]] std::optional<int> matchRank(const SearchedTexts& texts, const QStringList& words);
/// Ranks from here on have a word that was found only inside another, or in the help.
inline constexpr int kInsideWord = 100;

class PaletteRows;

/// Finds entries by name, in a popup over the window's upper middle: type, Enter; Esc closes it. Recently used entries
/// come first among those whose words begin with the typed ones. If nothing matches, it offers to search the help.
class CommandPalette : public TypedPopup {
    Q_OBJECT
public:
    explicit CommandPalette(QWidget* window);

    void open(std::vector<PaletteEntry> entries);
    /// Returns the ids of the used entries, the latest first.
    [[nodiscard]] const QStringList& recent() const { return m_recent; }
    void setRecent(const QStringList& ids) { m_recent = ids; }

signals:
    void recentChanged();
    /// Emitted to search the help for a text that nothing matches.
    void helpWanted(const QString& text);

private:
    void search(const QString& text);
    void take() override;

    PaletteRows* m_rows;
    QStringList m_recent;
};

} // namespace residua::app
