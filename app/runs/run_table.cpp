// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/run_table.h"

#include "app/records/runs_model.h"

#include <QEvent>
#include <QHeaderView>
#include <QMenu>
#include <QScopedValueRollback>
#include <QTreeView>

#include <algorithm>
#include <vector>

namespace residua::app {

namespace {

const QString kHidden = QStringLiteral("-");   ///< before the key of a column that is hidden
const QString kGrouping = QStringLiteral("="); ///< before the key of the column that groups the runs
constexpr int kNameWidth = 200;                ///< at least

} // namespace

RunTable::RunTable(RunsModel& model, QTreeView& tree) : QObject(&tree), m_model(model), m_tree(tree)
{
    tree.setSortingEnabled(true);
    tree.header()->setSortIndicatorClearable(true);
    tree.sortByColumn(-1, Qt::AscendingOrder); // the newest first, as the model has them
    tree.header()->setContextMenuPolicy(Qt::CustomContextMenu);
    tree.header()->setToolTip(tr("Click to sort, right-click to choose the columns and to group"));
    connect(tree.header(), &QWidget::customContextMenuRequested, this, &RunTable::openMenu);
    connect(&model, &RunsModel::modelReset, this, &RunTable::hideColumns);
    connect(&model, &RunsModel::dataChanged, this, &RunTable::hideColumns);
    hideColumns();
    const auto later = [this] { QMetaObject::invokeMethod(this, &RunTable::fitNames, Qt::QueuedConnection); };
    connect(tree.model(), &QAbstractItemModel::modelReset, this, later); // its rows are expanded first
    connect(&model, &RunsModel::dataChanged, this, [later](const auto&, const auto&, const QList<int>& roles) {
        if (roles.contains(Qt::DecorationRole)) { // a curve's colour stands beside the name
            later();
        }
    });
    connect(tree.header(), &QHeaderView::sectionResized, this,
            [this](int column) { m_dragged = m_dragged || (column == RunsModel::Name && !m_fitting); });
    tree.viewport()->installEventFilter(this);
}

bool RunTable::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::Resize) {
        fitNames();
    }
    return QObject::eventFilter(watched, event);
}

void RunTable::fitNames()
{
    if (m_dragged) {
        return;
    }
    const QScopedValueRollback fitting(m_fitting, true);
    const QAbstractItemView& view = m_tree; // the tree hides its size hints
    QHeaderView& header = *m_tree.header();
    int room = view.viewport()->width();
    for (int column = RunsModel::Name + 1; column < header.count(); ++column) {
        const bool isStretched = column == RunsModel::Notes; // notes may be cut
        const int contents = isStretched ? header.defaultSectionSize() : view.sizeHintForColumn(column);
        room -= header.isSectionHidden(column) ? 0 : std::max(header.sectionSizeHint(column), contents);
    }
    const int wanted = view.sizeHintForColumn(RunsModel::Name);
    header.resizeSection(RunsModel::Name, std::clamp(wanted, kNameWidth, std::max(kNameWidth, room)));
}

QStringList RunTable::choice() const
{
    QStringList choice;
    for (const QString& key : m_hidden) {
        choice << kHidden + key;
    }
    if (!m_model.grouping().isEmpty()) {
        choice << kGrouping + m_model.grouping();
    }
    return choice + m_model.chosenColumns();
}

void RunTable::choose(const QStringList& choice)
{
    QStringList shown;
    QString grouping;
    m_hidden.clear();
    for (const QString& key : choice) {
        if (key.startsWith(kGrouping)) {
            grouping = key.mid(kGrouping.size());
        } else {
            key.startsWith(kHidden) ? m_hidden << key.mid(kHidden.size()) : shown << key;
        }
    }
    m_model.chooseColumns(shown);
    m_model.groupBy(grouping);
    hideColumns();
}

/// A device that all runs share would be the same in every row.
void RunTable::hideColumns()
{
    for (int column = RunsModel::Name + 1; column < RunsModel::ColumnCount; ++column) {
        const bool idle = column == RunsModel::Device && !m_model.haveSeveralDevices();
        m_tree.setColumnHidden(column, idle || m_hidden.contains(RunsModel::keyOf(column)));
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
        connect(add(RunsModel::keyOf(column), title, !m_hidden.contains(RunsModel::keyOf(column))), &QAction::triggered,
                this, [this, column] { toggleOwn(column); });
    }
    menu->addSeparator();
    for (const RunColumn& offered : m_model.offeredColumns()) {
        connect(add(offered.key, offered.title, m_model.chosenColumns().contains(offered.key)), &QAction::triggered,
                this, [this, key = offered.key] { toggleOffered(key); });
    }
    menu->addSeparator();
    addGroupings(*menu->addMenu(tr("Group by")));
    menu->popup(m_tree.header()->mapToGlobal(position));
}

void RunTable::addGroupings(QMenu& menu)
{
    menu.setObjectName(QStringLiteral("runGroupings"));
    std::vector<RunColumn> groupings = m_model.groupings();
    groupings.insert(groupings.begin(), RunColumn{{}, tr("Nothing"), {}});
    for (const RunColumn& column : groupings) {
        QAction* action = menu.addAction(column.title);
        action->setObjectName(column.key);
        action->setCheckable(true);
        action->setChecked(column.key == m_model.grouping());
        connect(action, &QAction::triggered, this, [this, key = column.key] {
            m_model.groupBy(key);
            emit chosen();
        });
    }
}

void RunTable::toggleOwn(int column)
{
    if (!m_hidden.removeOne(RunsModel::keyOf(column))) {
        m_hidden << RunsModel::keyOf(column);
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
