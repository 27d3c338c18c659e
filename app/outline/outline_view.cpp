// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/outline/outline_view.h"

#include "app/inspector/property_editor.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QScopedValueRollback>
#include <QStyledItemDelegate>

#include <algorithm>
#include <optional>

namespace residua::app {

namespace {

constexpr int kMostOfNames = 70; ///< per cent of the width

/// Edits a value with the widget that the inspector uses.
class ValueDelegate : public QStyledItemDelegate {
public:
    ValueDelegate(OutlineModel& model, QObject* parent) : QStyledItemDelegate(parent), m_model(model) {}

    QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem&, const QModelIndex& index) const override
    {
        const OutlineRow* row = m_model.rowAt(index);
        if (!row || !row->property) {
            return nullptr;
        }
        auto* editor = new PropertyEditor(*row->property, parent);
        editor->setAutoFillBackground(true);
        connect(editor, &PropertyEditor::committed, this, [this, editor] {
            auto* self = const_cast<ValueDelegate*>(this); // Qt's factory is const, its signals are not
            emit self->commitData(editor);
            emit self->closeEditor(editor);
        });
        return editor;
    }

    void setEditorData(QWidget*, const QModelIndex&) const override {} // it was made with its value

    void setModelData(QWidget* editor, QAbstractItemModel* model, const QModelIndex& index) const override
    {
        const QVariant value = static_cast<PropertyEditor*>(editor)->value();
        if (value.isValid()) {
            model->setData(index, value, Qt::EditRole);
        }
    }

private:
    OutlineModel& m_model;
};

} // namespace

OutlineView::OutlineView(OutlineModel& model, QWidget* parent) : QTreeView(parent), m_outline(model)
{
    setObjectName(QStringLiteral("outline"));
    setAccessibleName(tr("Outline"));
    setModel(&model);
    setItemDelegateForColumn(OutlineModel::Value, new ValueDelegate(model, this));
    setHeaderHidden(true);
    setUniformRowHeights(true);
    setIndentation(16);
    setIconSize({16, 16});
    setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed |
                    QAbstractItemView::AnyKeyPressed);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setTextElideMode(Qt::ElideRight);
    setContextMenuPolicy(Qt::ActionsContextMenu);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff); // the columns share the available width
    header()->setStretchLastSection(true);
    header()->setSectionResizeMode(OutlineModel::Name, QHeaderView::Interactive);
    m_widen.setSingleShot(true);
    m_widen.setInterval(0);
    connect(&m_widen, &QTimer::timeout, this, &OutlineView::fitNames);
    for (const auto changed : {&QTreeView::expanded, &QTreeView::collapsed}) {
        connect(this, changed, &m_widen, qOverload<>(&QTimer::start));
    }
    connect(&model, &QAbstractItemModel::rowsInserted, &m_widen, qOverload<>(&QTimer::start));
    connect(&model, &QAbstractItemModel::modelReset, &m_widen, qOverload<>(&QTimer::start));
}

/// Shows full names as long as values keep some room.
void OutlineView::fitNames()
{
    const int most = viewport()->width() * kMostOfNames / 100;
    header()->resizeSection(OutlineModel::Name, std::min(sizeHintForColumn(OutlineModel::Name), most));
}

void OutlineView::resizeEvent(QResizeEvent* event)
{
    QTreeView::resizeEvent(event);
    m_widen.start();
}

void OutlineView::showPlace(const Place& place)
{
    const QScopedValueRollback following(m_following, true);
    const OutlineRow* current = m_outline.rowAt(currentIndex());
    if (current && current->place == place) {
        return; // it may be a property of the place, which the user has selected
    }
    const QModelIndex index = m_outline.indexOf(place);
    if (index.isValid()) {
        setCurrentIndex(index);
        scrollTo(index);
    } else {
        clearSelection();
    }
}

std::optional<Place> OutlineView::thing() const
{
    const OutlineRow* row = m_outline.rowAt(currentIndex());
    if (!row || state() == EditingState) {
        return std::nullopt;
    }
    if (row->shortcut) {
        return ShortcutsPlace{{*row->shortcut}};
    }
    const bool isThing =
        std::holds_alternative<NodePlace>(row->place) || std::holds_alternative<LayersPlace>(row->place);
    return isThing && !row->property ? std::optional(row->place) : std::nullopt; // a copy: the row may be removed
}

void OutlineView::currentChanged(const QModelIndex& current, const QModelIndex& previous)
{
    QTreeView::currentChanged(current, previous);
    const OutlineRow* row = m_outline.rowAt(current);
    if (row && !m_following && hasFocus()) { // removing rows also changes the current one
        emit placeChosen(Place(row->place));
    }
}

void OutlineView::keyPressEvent(QKeyEvent* event)
{
    const OutlineRow* row = m_outline.rowAt(currentIndex());
    if (row && row->property && (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)) {
        edit(currentIndex().siblingAtColumn(OutlineModel::Value));
        return;
    }
    QTreeView::keyPressEvent(event);
}

} // namespace residua::app
