// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/command_palette.h"

#include "app/commands/key_bindings.h"

#include <QAction>
#include <QApplication>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QPointer>
#include <QRegularExpression>
#include <QSortFilterProxyModel>
#include <QStandardItemModel>
#include <QTreeView>
#include <QVBoxLayout>

#include <algorithm>

namespace residua::app {

namespace {

enum Column { Name, Keys, ColumnCount };
constexpr int kActionRole = Qt::UserRole;
constexpr int kWidth = 620;
constexpr int kHeight = 420;
constexpr int kTop = 60;

void collect(const QList<QAction*>& actions, const QString& path, QList<MenuCommand>& commands)
{
    for (QAction* action : actions) {
        const QString name = path.isEmpty() ? plainText(*action) : path + QStringLiteral(" › ") + plainText(*action);
        if (action->menu()) {
            collect(action->menu()->actions(), name, commands);
        } else if (!action->isSeparator()) {
            commands.push_back({name, action});
        }
    }
}

} // namespace

QList<MenuCommand> commandsOf(const QMenuBar& bar)
{
    QList<MenuCommand> commands;
    collect(bar.actions(), {}, commands);
    return commands;
}

CommandPalette::CommandPalette(QWidget* window)
    : TypedPopup(window),
      m_commands(new QStandardItemModel(0, ColumnCount, this)),
      m_filter(new QSortFilterProxyModel(this))
{
    setObjectName(QStringLiteral("commandPalette"));
    setAccessibleName(tr("Commands"));
    m_filter->setSourceModel(m_commands);
    field().setObjectName(QStringLiteral("commandSearch"));
    field().setPlaceholderText(tr("Type a command"));
    field().setAccessibleName(tr("Search commands"));
    list().setAccessibleName(tr("Matching commands"));
    list().setModel(m_filter);
    list().header()->setStretchLastSection(false);
    list().header()->setSectionResizeMode(Name, QHeaderView::Stretch);
    list().header()->setSectionResizeMode(Keys, QHeaderView::ResizeToContents);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(8, 8, 8, 8);
    layout->addWidget(&field());
    layout->addWidget(&list(), 1);
    connect(&field(), &QLineEdit::textChanged, this, &CommandPalette::search);
}

void CommandPalette::open(const QList<MenuCommand>& commands)
{
    m_commands->setRowCount(0);
    for (const MenuCommand& command : commands) {
        auto* name = new QStandardItem(command.path);
        name->setData(QVariant::fromValue(QPointer<QAction>(command.action)), kActionRole);
        name->setToolTip(command.action->statusTip());
        auto* keys = new QStandardItem(command.action->shortcut().toString(QKeySequence::NativeText));
        keys->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
        for (QStandardItem* item : {name, keys}) {
            item->setEnabled(command.action->isEnabled());
        }
        m_commands->appendRow({name, keys});
    }
    QWidget* window = parentWidget();
    const int width = std::min(kWidth, window->width() - 40);
    field().clear();
    search({});
    popUp({(window->width() - width) / 2, kTop, width, std::min(kHeight, window->height() - 2 * kTop)},
          QApplication::focusWidget());
}

void CommandPalette::search(const QString& text)
{
    QString pattern;
    for (const QString& word : text.split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
        pattern += QStringLiteral("(?=.*%1)").arg(QRegularExpression::escape(word));
    }
    m_filter->setFilterRegularExpression(QRegularExpression(pattern, QRegularExpression::CaseInsensitiveOption));
    for (int row = 0; row < m_filter->rowCount(); ++row) {
        const QModelIndex index = m_filter->index(row, Name);
        if (index.flags() & Qt::ItemIsEnabled) {
            list().setCurrentIndex(index);
            return;
        }
    }
}

void CommandPalette::take()
{
    const auto action = list().currentIndex().siblingAtColumn(Name).data(kActionRole).value<QPointer<QAction>>();
    if (!action || !action->isEnabled()) {
        return;
    }
    leave();
    action->trigger();
}

} // namespace residua::app
