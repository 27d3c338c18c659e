// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/command_palette.h"

#include "app/commands/key_bindings.h"

#include <QAction>
#include <QApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
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
    : QFrame(window),
      m_commands(new QStandardItemModel(0, ColumnCount, this)),
      m_filter(new QSortFilterProxyModel(this)),
      m_search(new QLineEdit(this)),
      m_list(new QTreeView(this))
{
    setObjectName(QStringLiteral("commandPalette"));
    setAccessibleName(tr("Commands"));
    m_filter->setSourceModel(m_commands);
    m_search->setObjectName(QStringLiteral("commandSearch"));
    m_search->setPlaceholderText(tr("Type a command"));
    m_search->setAccessibleName(tr("Search commands"));
    m_search->installEventFilter(this);
    m_list->setAccessibleName(tr("Matching commands"));
    m_list->setModel(m_filter);
    m_list->setRootIsDecorated(false);
    m_list->setUniformRowHeights(true);
    m_list->setHeaderHidden(true);
    m_list->setFocusPolicy(Qt::NoFocus); // the arrows move it from the search
    m_list->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_list->header()->setStretchLastSection(false);
    m_list->header()->setSectionResizeMode(Name, QHeaderView::Stretch);
    m_list->header()->setSectionResizeMode(Keys, QHeaderView::ResizeToContents);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(8, 8, 8, 8);
    layout->addWidget(m_search);
    layout->addWidget(m_list, 1);
    connect(m_search, &QLineEdit::textChanged, this, &CommandPalette::search);
    connect(m_list, &QTreeView::clicked, this, &CommandPalette::run);
    hide();
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
    setGeometry((window->width() - width) / 2, kTop, width, std::min(kHeight, window->height() - 2 * kTop));
    m_before = QApplication::focusWidget();
    show();
    raise();
    m_search->clear();
    search({});
    m_search->setFocus(Qt::PopupFocusReason);
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
            m_list->setCurrentIndex(index);
            return;
        }
    }
}

void CommandPalette::run(const QModelIndex& index)
{
    const auto action = index.siblingAtColumn(Name).data(kActionRole).value<QPointer<QAction>>();
    if (!action || !action->isEnabled()) {
        return;
    }
    leave();
    action->trigger();
}

void CommandPalette::leave()
{
    hide();
    if (m_before) {
        m_before->setFocus(Qt::PopupFocusReason);
    }
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::FocusOut && isVisible()) {
        hide();
    }
    if (event->type() == QEvent::ShortcutOverride) {
        event->accept(); // no key means a command while one is being looked for
        return true;
    }
    if (event->type() != QEvent::KeyPress) {
        return QFrame::eventFilter(watched, event);
    }
    auto* key = static_cast<QKeyEvent*>(event);
    switch (key->key()) {
    case Qt::Key_Escape:
        leave();
        return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        run(m_list->currentIndex());
        return true;
    case Qt::Key_Up:
    case Qt::Key_Down:
    case Qt::Key_PageUp:
    case Qt::Key_PageDown:
        QApplication::sendEvent(m_list, key);
        return true;
    default:
        return QFrame::eventFilter(watched, event);
    }
}

} // namespace residua::app
