// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/keys_dialog.h"

#include "app/look/theme.h"

#include <QDialogButtonBox>
#include <QHeaderView>
#include <QKeySequenceEdit>
#include <QLineEdit>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>

namespace residua::app {

namespace {

constexpr QSize kSize(560, 560);
constexpr int kRowHeight = 26;

class KeyDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem&, const QModelIndex&) const override
    {
        auto* editor = new QKeySequenceEdit(parent);
        connect(editor, &QKeySequenceEdit::editingFinished, this, [this, editor] {
            auto* self = const_cast<KeyDelegate*>(this); // Qt's factory is const, its signals are not
            emit self->commitData(editor);
            emit self->closeEditor(editor);
        });
        return editor;
    }
    void setEditorData(QWidget* editor, const QModelIndex& index) const override
    {
        static_cast<QKeySequenceEdit*>(editor)->setKeySequence(index.data(Qt::EditRole).value<QKeySequence>());
    }
    void setModelData(QWidget* editor, QAbstractItemModel* model, const QModelIndex& index) const override
    {
        // Only one stroke, because a tooltip could not explain a command of several strokes.
        const QKeySequence typed = static_cast<QKeySequenceEdit*>(editor)->keySequence();
        model->setData(index, typed.isEmpty() ? QKeySequence() : QKeySequence(typed[0]));
    }
};

} // namespace

KeysDialog::KeysDialog(KeyBindings& bindings, QWidget* parent)
    : QDialog(parent), m_bindings(bindings), m_filter(new QSortFilterProxyModel(this)), m_table(new QTableView(this))
{
    setObjectName(QStringLiteral("keysDialog"));
    setWindowTitle(tr("Keyboard shortcuts"));
    resizeWithinScreen(*this, kSize);
    m_filter->setSourceModel(&bindings);
    m_filter->setFilterCaseSensitivity(Qt::CaseInsensitive);
    m_filter->setFilterKeyColumn(-1);
    auto* search = new QLineEdit(this);
    search->setPlaceholderText(tr("Search commands and keys"));
    search->setAccessibleName(tr("Search commands and keys"));
    search->setClearButtonEnabled(true);
    m_table->setAccessibleName(tr("Commands and their keys"));
    m_table->setModel(m_filter);
    m_table->setItemDelegateForColumn(KeyBindings::Keys, new KeyDelegate(m_table));
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed);
    m_table->setShowGrid(false);
    m_table->setTabKeyNavigation(false);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(kRowHeight);
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_table->horizontalHeader()->setSectionResizeMode(KeyBindings::Command, QHeaderView::Stretch);
    m_table->horizontalHeader()->setSectionResizeMode(KeyBindings::Keys, QHeaderView::Interactive);
    m_table->horizontalHeader()->resizeSection(KeyBindings::Keys, 150);
    m_table->horizontalHeader()->setSectionResizeMode(KeyBindings::Clash, QHeaderView::ResizeToContents);

    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    auto* reset = buttons->addButton(tr("Reset this one"), QDialogButtonBox::ActionRole);
    auto* resetAll = buttons->addButton(tr("Reset all"), QDialogButtonBox::ResetRole);
    for (QAbstractButton* const button : buttons->buttons()) {
        static_cast<QPushButton*>(button)->setAutoDefault(false); // Return in the search field must not reset the keys
    }
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(search);
    layout->addWidget(m_table, 1);
    layout->addWidget(buttons);
    connect(search, &QLineEdit::textChanged, m_filter, &QSortFilterProxyModel::setFilterFixedString);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::close);
    connect(reset, &QPushButton::clicked, this, &KeysDialog::resetSelected);
    connect(resetAll, &QPushButton::clicked, &bindings, &KeyBindings::resetAll);
}

void KeysDialog::resetSelected()
{
    const QModelIndex index = m_filter->mapToSource(m_table->currentIndex());
    if (index.isValid()) {
        m_bindings.reset(index.row());
    }
}

} // namespace residua::app
