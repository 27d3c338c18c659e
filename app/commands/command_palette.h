// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>
#include <QList>
#include <QPointer>

class QAction;
class QLineEdit;
class QMenuBar;
class QSortFilterProxyModel;
class QStandardItemModel;
class QTreeView;

namespace residua::app {

/// A command and where the menus hold it.
struct MenuCommand {
    QString path; ///< "File › New from example › ANCRe"
    QAction* action = nullptr;
};
/// Every command of the menus, in their order.
[[nodiscard]] QList<MenuCommand> commandsOf(const QMenuBar& bar);

/// All commands by name, over the window's upper middle: type, Enter; Esc leaves. The words may come in any order.
class CommandPalette : public QFrame {
    Q_OBJECT
public:
    explicit CommandPalette(QWidget* window);

    void open(const QList<MenuCommand>& commands);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void search(const QString& text);
    void run(const QModelIndex& index);
    void leave();

    QStandardItemModel* m_commands;
    QSortFilterProxyModel* m_filter;
    QLineEdit* m_search;
    QTreeView* m_list;
    QPointer<QWidget> m_before; ///< had the focus
};

} // namespace residua::app
