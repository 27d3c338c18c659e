// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/run_table.h"

#include "app/records/runs_model.h"

#include <QHeaderView>
#include <QMenu>
#include <QTreeView>

#include <algorithm>
#include <iterator>

namespace residua::app {

namespace {

/// In the user's settings, in the order of RunsModel::Column. They stay.
constexpr const char* kOwnKeys[] = {"name",           "started", "state", "progress", "loss",
                                    "validationLoss", "device",  "tags",  "notes"};
static_assert(std::size(kOwnKeys) == RunsModel::ColumnCount);
const QString kHidden = QStringLiteral("-"); ///< before the key of a column that is hidden

QString keyOf(int column)
{
    return QString::fromLatin1(kOwnKeys[column]);
}

} // namespace

RunTable::RunTable(RunsModel& model, QTreeView& tree) : QObject(&tree), m_model(model), m_tree(tree)
{
    tree.setSortingEnabled(true);
    tree.header()->setSortIndicatorClearable(true);
    tree.sortByColumn(-1, Qt::AscendingOrder); // the newest first, as the model has them
    tree.header()->setContextMenuPolicy(Qt::CustomContextMenu);
    tree.header()->setToolTip(tr("Click to sort, right-click to choose the columns"));
    connect(tree.header(), &QWidget::customContextMenuRequested, this, &RunTable::openMenu);
    connect(&model, &RunsModel::modelReset, this, &RunTable::hideColumns);
    connect(&model, &RunsModel::dataChanged, this, &RunTable::hideColumns);
    hideColumns();
}

QStringList RunTable::choice() const
{
    QStringList choice;
    for (const QString& key : m_hidden) {
        choice << kHidden + key;
    }
    return choice + m_model.chosenColumns();
}

void RunTable::choose(const QStringList& choice)
{
    QStringList shown;
    m_hidden.clear();
    for (const QString& key : choice) {
        key.startsWith(kHidden) ? m_hidden << key.mid(kHidden.size()) : shown << key;
    }
    m_model.chooseColumns(shown);
    hideColumns();
}

/// A device that all runs share would be the same in every row.
void RunTable::hideColumns()
{
    for (int column = RunsModel::Name + 1; column < RunsModel::ColumnCount; ++column) {
        const bool idle = column == RunsModel::Device && !m_model.haveSeveralDevices();
        m_tree.setColumnHidden(column, idle || m_hidden.contains(keyOf(column)));
    }
}

void RunTable::openMenu(const QPoint& position)
{
    auto* menu = new QMenu(&m_tree);
    menu->setObjectName(QStringLiteral("runColumns"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const auto add = [menu](const QString& key, const QString& title, bool shown) {
        QAction* action = menu->addAction(title);
        action->setObjectName(key);
        action->setCheckable(true);
        action->setChecked(shown);
        return action;
    };
    for (int column = RunsModel::Name + 1; column < RunsModel::ColumnCount; ++column) {
        const QString title = m_model.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
        connect(add(keyOf(column), title, !m_hidden.contains(keyOf(column))), &QAction::triggered, this,
                [this, column] { toggleOwn(column); });
    }
    menu->addSeparator();
    for (const RunColumn& offered : m_model.offeredColumns()) {
        connect(add(offered.key, offered.title, m_model.chosenColumns().contains(offered.key)), &QAction::triggered,
                this, [this, key = offered.key] { toggleOffered(key); });
    }
    menu->popup(m_tree.header()->mapToGlobal(position));
}

void RunTable::toggleOwn(int column)
{
    if (!m_hidden.removeOne(keyOf(column))) {
        m_hidden << keyOf(column);
    }
    hideColumns();
    emit chosen();
}

void RunTable::toggleOffered(const QString& key)
{
    QStringList keys = m_model.chosenColumns();
    if (!keys.removeOne(key)) {
        keys << key;
    }
    m_model.chooseColumns(keys);
    emit chosen();
}

} // namespace residua::app
