// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/outline/outline_view.h"

#include "app/inspector/property_editor.h"

#include <QApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QScopedValueRollback>
#include <QStyledItemDelegate>

#include <algorithm>

namespace residua::app {

namespace {

constexpr int kMostOfNames = 70; ///< per cent of the width

/// Edits a value with the widget that the inspector uses. Return, Tab and a click elsewhere enter the value and close
/// the editor, unless the value is invalid. Esc closes it without a change.
class ValueDelegate : public QStyledItemDelegate {
public:
    ValueDelegate(OutlineModel& model, QObject* parent) : QStyledItemDelegate(parent), m_model(model) {}

    QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem&, const QModelIndex& index) const override
    {
        const OutlineRow* row = m_model.rowAt(index);
        if (!row || !row->property) {
            return nullptr;
        }
        auto* self = const_cast<ValueDelegate*>(this); // Qt's factory is const, its signals and filters are not
        auto* editor = new PropertyEditor(*row->property, parent);
        editor->setAutoFillBackground(true);
        editor->focusProxy()->installEventFilter(self);
        const bool isChoice = row->property->kind == PropertyKind::Choice;
        connect(editor, &PropertyEditor::committed, this,
                [self, editor, isChoice, at = QPersistentModelIndex(index)](const QVariant& value) {
                    self->m_model.setData(at, value, Qt::EditRole);
                    if (isChoice && editor->isVisible()) {
                        self->close(*editor);
                    }
                });
        return editor;
    }

    void setEditorData(QWidget* editor, const QModelIndex& index) const override
    {
        const OutlineRow* row = m_model.rowAt(index);
        if (row && row->property) { // the document may have changed since the editor was opened
            static_cast<PropertyEditor*>(editor)->setProperty(*row->property);
        }
    }

    void setModelData(QWidget* editor, QAbstractItemModel*, const QModelIndex&) const override
    {
        static_cast<PropertyEditor*>(editor)->enter();
    }

    bool eventFilter(QObject* watched, QEvent* event) override
    {
        auto* editor = qobject_cast<PropertyEditor*>(watched->parent());
        if (!editor) { // `watched` is the editor itself, which never has the focus
            return false;
        }
        if (event->type() == QEvent::ShortcutOverride && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
            event->accept();
            return true;
        }
        if (event->type() == QEvent::KeyPress) {
            return handlesKey(*editor, static_cast<QKeyEvent*>(event)->key());
        }
        const bool left = event->type() == QEvent::FocusOut && !hasFocus(*editor);
        const Qt::FocusReason why = left ? static_cast<QFocusEvent*>(event)->reason() : Qt::OtherFocusReason;
        if (left && why != Qt::PopupFocusReason && why != Qt::ActiveWindowFocusReason) {
            finish(*editor);
        }
        return false;
    }

private:
    /// Returns true also if the list of a choice has the focus, which is a window of its own.
    static bool hasFocus(const PropertyEditor& editor)
    {
        const QWidget* within = QApplication::focusWidget();
        while (within && within != &editor) {
            within = within->parentWidget();
        }
        return within != nullptr;
    }

    bool handlesKey(PropertyEditor& editor, int key)
    {
        switch (key) {
        case Qt::Key_Return:
        case Qt::Key_Enter:
        case Qt::Key_Tab:
        case Qt::Key_Backtab:
            finish(editor);
            return true; // the tree would open the editor again
        case Qt::Key_Escape:
            editor.restore();
            close(editor, RevertModelCache);
            return true;
        default:
            return false;
        }
    }

    void finish(PropertyEditor& editor)
    {
        if (editor.enter() && editor.isVisible()) {
            close(editor);
        }
    }

    /// Closes the editor once: it loses the focus while it closes.
    void close(PropertyEditor& editor, EndEditHint hint = NoHint)
    {
        editor.focusProxy()->removeEventFilter(this);
        emit closeEditor(&editor, hint);
    }

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
        connect(this, changed, this, [this](const QModelIndex& index) {
            if (!m_following) {
                std::erase(m_expanded, QPersistentModelIndex(index));
            }
        });
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
        expandTo(index);
        setCurrentIndex(index);
        scrollTo(index);
    } else {
        clearSelection();
    }
}

void OutlineView::expandTo(const QModelIndex& index)
{
    std::vector<QPersistentModelIndex> parents;
    for (QModelIndex parent = index.parent(); parent.isValid(); parent = parent.parent()) {
        parents.emplace_back(parent);
    }
    std::vector<QPersistentModelIndex> kept;
    for (const QPersistentModelIndex& each : m_expanded) {
        if (std::ranges::find(parents, each) != parents.end()) {
            kept.push_back(each);
        } else if (each.isValid()) {
            collapse(each);
        }
    }
    for (const QPersistentModelIndex& parent : parents) {
        if (!isExpanded(parent)) {
            kept.push_back(parent);
            expand(parent);
        }
    }
    m_expanded = std::move(kept);
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
    const bool isThing = std::holds_alternative<NodePlace>(row->place) ||
                         std::holds_alternative<LayersPlace>(row->place) ||
                         std::holds_alternative<LoopPlace>(row->place);
    return isThing && !row->property ? std::optional(row->place) : std::nullopt; // a copy: the row may be removed
}

void OutlineView::currentChanged(const QModelIndex& current, const QModelIndex& previous)
{
    QTreeView::currentChanged(current, previous);
    const OutlineRow* row = m_outline.rowAt(current);
    if (row && !m_following && hasFocus()) { // removing rows also changes the current one
        m_expanded.clear();                  // the user works in these branches now
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
