// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/run_table.h"

#include "app/records/run_columns.h"
#include "app/records/runs_model.h"
#include "projects/base/ranges.h"
#include "visualizers/plot/series.h"

#include <QAbstractProxyModel>
#include <QApplication>
#include <QEvent>
#include <QHash>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMenu>
#include <QScopedValueRollback>
#include <QString>
#include <QStyle>
#include <QStyledItemDelegate>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace residua::app {
namespace {

constexpr std::size_t kMostWidths = 32; ///< a column that is dragged has many widths

void collect(const RunsModel& runs, const QModelIndex& parent, QStringList& names)
{
    for (int row = 0; row < runs.rowCount(parent); ++row) {
        const QModelIndex index = runs.index(row, RunsModel::Name, parent);
        if (runs.runAt(index) != nullptr) { // the title of a group has what its runs have in common
            names << index.data().toString();
        }
        collect(runs, index, names);
    }
}

/// Edits a text in the list of runs. While the user types, changes of the run do not replace the text. A tick of a
/// selected row ticks all selected rows.
class RunTextDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    bool editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option,
                     const QModelIndex& index) override
    {
        const QVariant before = index.data(Qt::CheckStateRole);
        const bool done = QStyledItemDelegate::editorEvent(event, model, option, index);
        const QVariant ticked = index.data(Qt::CheckStateRole);
        const auto* const tree = qobject_cast<const QAbstractItemView*>(option.widget);
        if (done && tree != nullptr && ticked != before && tree->selectionModel()->isSelected(index)) {
            for (const QModelIndex& row : tree->selectionModel()->selectedRows(index.column())) {
                model->setData(row, ticked, Qt::CheckStateRole);
            }
        }
        return done;
    }

    void setEditorData(QWidget* editor, const QModelIndex& index) const override
    {
        const auto* const field = qobject_cast<QLineEdit*>(editor);
        if (!field || !field->isModified()) {
            QStyledItemDelegate::setEditorData(editor, index);
        }
    }
};

/// Draws the names in the list of runs. A name that does not fit is shortened so that it differs from all others. GUI
/// thread.
class RunNameDelegate final : public RunTextDelegate {
public:
    /// Draws the names of `runs`, which must outlive the delegate.
    explicit RunNameDelegate(const RunsModel& runs, QObject* parent = nullptr);

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

private:
    [[nodiscard]] QString shown(const QString& name, const QFontMetrics& metrics, int width) const;

    const RunsModel& m_runs;
    mutable std::map<int, QHash<QString, QString>> m_shown; ///< by width, the shortened form of each name
};

const QString kHidden = QStringLiteral("-");   ///< before the key of a column that is hidden
const QString kGrouping = QStringLiteral("="); ///< before the key of the column that groups the runs
constexpr int kNameWidth = 240;                ///< at least, for a topology and its seed

} // namespace

RunNameDelegate::RunNameDelegate(const RunsModel& runs, QObject* parent) : RunTextDelegate(parent), m_runs(runs)
{
    const auto forget = [this] { m_shown.clear(); };
    connect(&runs, &RunsModel::modelReset, this, forget);
    connect(&runs, &RunsModel::dataChanged, this, forget);
}

void RunNameDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const
{
    RunTextDelegate::initStyleOption(option, index);
    if (const auto sample = index.data(Qt::DecorationRole).value<QPixmap>(); !sample.isNull()) {
        option->icon.addPixmap(sample, QIcon::Selected); // a tint would be another group's colour
    }
    const QStyle& style = option->widget ? *option->widget->style() : *QApplication::style();
    const int margin = style.pixelMetric(QStyle::PM_FocusFrameHMargin, option, option->widget) + 1;
    const QRect room = style.subElementRect(QStyle::SE_ItemViewItemText, option, option->widget);
    option->text = shown(option->text, option->fontMetrics, room.width() - 2 * margin);
}

QString RunNameDelegate::shown(const QString& name, const QFontMetrics& metrics, int width) const
{
    if (width <= 0 || metrics.horizontalAdvance(name) <= width) {
        return name;
    }
    if (m_shown.size() > kMostWidths) {
        m_shown.clear();
    }
    const auto [found, isNew] = m_shown.try_emplace(width);
    if (isNew) {
        QStringList names;
        collect(m_runs, {}, names);
        const QStringList cut = visualizers::distinctNames(names, metrics, width);
        for (qsizetype i = 0; i < names.size(); ++i) {
            found->second.insert(names[i], cut[i]);
        }
    }
    return found->second.value(name, name);
}

bool RunsTree::edit(const QModelIndex& index, EditTrigger trigger, QEvent* event)
{
    const bool annotates = index.column() == RunsModel::Tags || index.column() == RunsModel::Notes;
    const bool selects = trigger == SelectedClicked && !annotates; // but a click on the tick of a selected row ticks it
    return QTreeView::edit(index, selects ? NoEditTriggers : trigger, event);
}

void RunsTree::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Space && currentIndex().isValid()) {
        const QModelIndex tick = currentIndex().siblingAtColumn(RunsModel::Name);
        selectionModel()->setCurrentIndex(tick, QItemSelectionModel::NoUpdate);
    }
    QTreeView::keyPressEvent(event);
}

RunTable::RunTable(RunsModel& model, QTreeView& tree) : QObject(&tree), m_model(model), m_tree(tree)
{
    tree.setItemDelegate(new RunTextDelegate(&tree));
    tree.setItemDelegateForColumn(RunsModel::Name, new RunNameDelegate(model, &tree));
    tree.setSortingEnabled(true);
    tree.header()->setSortIndicatorClearable(true);
    tree.sortByColumn(-1, Qt::AscendingOrder); // the newest first, as the model has them
    tree.header()->setContextMenuPolicy(Qt::CustomContextMenu);
    tree.header()->setToolTip(tr("Click to sort, right-click to choose the columns and to group"));
    connect(tree.header(), &QWidget::customContextMenuRequested, this, &RunTable::openMenu);
    connect(&model, &RunsModel::modelAboutToBeReset, this, &RunTable::keepTyping);
    connect(&model, &RunsModel::modelReset, this, &RunTable::typeOn, Qt::QueuedConnection);
    connect(&model, &RunsModel::modelReset, this, &RunTable::hideColumns);
    connect(&model, &RunsModel::modelReset, this, &RunTable::placeDifferences);
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

/// Remembers what is being typed, because a reset closes the editor.
void RunTable::keepTyping()
{
    if (m_typing) {
        return; // an earlier reset has closed the editor, and it is not open again yet
    }
    const auto* const field = m_tree.viewport()->findChild<QLineEdit*>();
    const auto* const proxy = static_cast<const QAbstractProxyModel*>(m_tree.model());
    const engine::RunInfo* const run = m_model.runAt(proxy->mapToSource(m_tree.currentIndex()));
    if (field && field->isModified() && run) {
        m_typing = Typing{run->directory, m_tree.currentIndex().column(), field->text()};
    }
}

/// Opens the editor again with the text that was being typed.
void RunTable::typeOn()
{
    const auto typing = std::exchange(m_typing, std::nullopt);
    const auto* const proxy = static_cast<const QAbstractProxyModel*>(m_tree.model());
    const QModelIndex run = typing ? proxy->mapFromSource(m_model.indexOf(typing->directory)) : QModelIndex();
    if (!run.isValid()) {
        return;
    }
    m_tree.setCurrentIndex(run.siblingAtColumn(typing->column));
    m_tree.edit(m_tree.currentIndex());
    if (auto* field = m_tree.viewport()->findChild<QLineEdit*>()) {
        field->setText(typing->text);
        field->setModified(true);
    }
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
    auto choice = mapped<QStringList>(m_hidden, [&](const QString& key) { return kHidden + key; });
    choice << kGrouping + m_model.grouping();
    return choice + m_model.chosenColumns();
}

void RunTable::choose(const QStringList& choice)
{
    QStringList shown;
    QString grouping = QString::fromLatin1(kGroupColumn);
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

/// Shows the differences from the baseline beside the names.
void RunTable::placeDifferences()
{
    QHeaderView& header = *m_tree.header();
    for (int column = m_model.columnCount() - 1; m_model.isDifference(column); --column) {
        header.moveSection(header.visualIndex(column), header.visualIndex(RunsModel::Name) + 1);
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
