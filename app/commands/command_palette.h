// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/commands/typed_popup.h"

#include <QList>

class QAction;
class QMenuBar;
class QSortFilterProxyModel;
class QStandardItemModel;

namespace residua::app {

/// A command and where the menus hold it.
struct MenuCommand {
    QString path; ///< "File › New from example › ANCRe"
    QAction* action = nullptr;
};
/// Every command of the menus, in their order.
[[nodiscard]] QList<MenuCommand> commandsOf(const QMenuBar& bar);

/// All commands by name, over the window's upper middle: type, Enter; Esc leaves. The words may come in any order.
class CommandPalette : public TypedPopup {
    Q_OBJECT
public:
    explicit CommandPalette(QWidget* window);

    void open(const QList<MenuCommand>& commands);

private:
    void search(const QString& text);
    void take() override;

    QStandardItemModel* m_commands;
    QSortFilterProxyModel* m_filter;
};

} // namespace residua::app
