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

/// A command and where the menus hold it.
struct MenuCommand {
    QString path; ///< "File › New from example › ANCRe"
    QAction* action = nullptr;
};
/// Every command of the menus, in their order.
[[nodiscard]] QList<MenuCommand> commandsOf(const QMenuBar& bar);

/// What the palette can find: a command, a topology, a field.
struct PaletteEntry {
    QString text; ///< what is searched: "File › Open", "Training › steps"
    QString id;   ///< stable, by which what was used last is remembered
    QString toolTip;
    bool isEnabled = true;
    std::function<QString()> note; ///< at the row's end: a key, a price, a value; asked for when the row is shown
    std::function<void()> take;
};

/// How well an entry's text answers the words, which may stand in any order; less is better. Whole words go before
/// words that begin so, these before what is inside a word, and the last part of a path before the menus that hold it.
/// Nullopt if a word is not in the text.
[[nodiscard]] std::optional<int> matchRank(const QString& text, const QStringList& words);
/// A rank from which on some word was found only inside another.
inline constexpr int kInsideWord = 100;

class PaletteRows;

/// Finds entries by name, over the window's upper middle: type, Enter; Esc leaves. What was taken last is first among
/// entries whose words begin as the typed ones do.
class CommandPalette : public TypedPopup {
    Q_OBJECT
public:
    explicit CommandPalette(QWidget* window);

    void open(std::vector<PaletteEntry> entries);
    /// Ids of the entries taken, the latest first.
    [[nodiscard]] const QStringList& recent() const { return m_recent; }
    void setRecent(const QStringList& ids) { m_recent = ids; }

signals:
    void recentChanged();

private:
    void search(const QString& text);
    void take() override;

    PaletteRows* m_rows;
    QStringList m_recent;
};

} // namespace residua::app
