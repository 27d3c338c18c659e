// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/key_bindings.h"

#include "app/look/theme.h"
#include "visualizers/plot/arrange.h"

#include <QAction>
#include <QDialogButtonBox>
#include <QHeaderView>
#include <QKeyEvent>
#include <QKeySequenceEdit>
#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include <algorithm>

namespace residua::app {
namespace {

QString settingOf(const QAction& action)
{
    return QStringLiteral("keys/") + action.objectName();
}

QString textOf(const QList<QKeySequence>& keys)
{
    return QKeySequence::listToString(keys, QKeySequence::NativeText);
}

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
    /// Return ends the input; the editor would take it as the command's key.
    bool eventFilter(QObject* watched, QEvent* event) override
    {
        const int key = event->type() == QEvent::KeyPress ? static_cast<QKeyEvent*>(event)->key() : 0;
        if (key != Qt::Key_Return && key != Qt::Key_Enter) {
            return QStyledItemDelegate::eventFilter(watched, event);
        }
        auto* editor = static_cast<QWidget*>(watched);
        emit commitData(editor);
        emit closeEditor(editor);
        return true;
    }
};

} // namespace

QString plainText(const QAction& action)
{
    QString text = action.text();
    return text.remove(QLatin1Char('&'));
}

KeyBindings::KeyBindings(const QList<QAction*>& actions, QObject* parent) : QAbstractTableModel(parent)
{
    for (QAction* action : actions) {
        m_bindings.push_back({action, action->shortcuts(), action->shortcuts()});
        apply(m_bindings.back());
    }
}

void KeyBindings::apply(const Binding& binding)
{
    binding.action->setShortcuts(binding.keys);
    const QString key = binding.keys.isEmpty() ? QString() : binding.keys.front().toString(QKeySequence::NativeText);
    const QString tip = binding.action->statusTip();
    binding.action->setToolTip(key.isEmpty() ? tip : QStringLiteral("%1 (%2)").arg(tip, key));
}

QList<QKeySequence> KeyBindings::keysOf(const QAction* action) const
{
    const auto found =
        std::find_if(m_bindings.begin(), m_bindings.end(), [&](const Binding& each) { return each.action == action; });
    return found == m_bindings.end() ? QList<QKeySequence>() : found->keys;
}

bool KeyBindings::isDefault(int row) const
{
    const Binding& binding = m_bindings.at(static_cast<std::size_t>(row));
    return binding.keys == binding.defaults;
}

void KeyBindings::setKeys(int row, const QList<QKeySequence>& keys)
{
    Binding& binding = m_bindings.at(static_cast<std::size_t>(row));
    if (binding.keys == keys) {
        return;
    }
    binding.keys = keys;
    apply(binding);
    emit dataChanged(index(0, Command), index(rowCount() - 1, Clash)); // clashes of other commands may have changed
    emit keysChanged();
}

void KeyBindings::reset(int row)
{
    setKeys(row, m_bindings.at(static_cast<std::size_t>(row)).defaults);
}

void KeyBindings::resetAll()
{
    for (int row = 0; row < rowCount(); ++row) {
        reset(row);
    }
}

QList<QAction*> KeyBindings::clashesOf(int row) const
{
    const Binding& binding = m_bindings.at(static_cast<std::size_t>(row));
    QList<QAction*> clashes;
    for (const Binding& other : m_bindings) {
        const bool shares = std::any_of(other.keys.begin(), other.keys.end(),
                                        [&](const QKeySequence& key) { return binding.keys.contains(key); });
        const bool yields = other.action->property(kYields).toBool() != binding.action->property(kYields).toBool();
        if (other.action != binding.action && shares && !yields) {
            clashes << other.action;
        }
    }
    return clashes;
}

void KeyBindings::load(const QSettings& settings)
{
    for (std::size_t row = 0; row < m_bindings.size(); ++row) {
        const QVariant stored = settings.value(settingOf(*m_bindings[row].action));
        if (stored.isValid()) {
            const QString text = stored.toString(); // an empty text means no key; Qt would convert it to an empty key
            setKeys(static_cast<int>(row), text.isEmpty()
                                               ? QList<QKeySequence>()
                                               : QKeySequence::listFromString(text, QKeySequence::PortableText));
        }
    }
}

void KeyBindings::store(QSettings& settings) const
{
    for (const Binding& binding : m_bindings) {
        if (binding.keys == binding.defaults) {
            settings.remove(settingOf(*binding.action));
        } else {
            settings.setValue(settingOf(*binding.action),
                              QKeySequence::listToString(binding.keys, QKeySequence::PortableText));
        }
    }
}

int KeyBindings::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_bindings.size());
}

int KeyBindings::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant KeyBindings::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const Binding& binding = m_bindings[static_cast<std::size_t>(index.row())];
    if (role == Qt::EditRole && index.column() == Keys) {
        return binding.keys.isEmpty() ? QKeySequence() : binding.keys.front();
    }
    if (role == Qt::ToolTipRole) {
        return binding.action->statusTip();
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    switch (index.column()) {
    case Command:
        return plainText(*binding.action);
    case Keys:
        return textOf(binding.keys);
    default:
        break;
    }
    QStringList names;
    for (const QAction* other : clashesOf(index.row())) {
        names << plainText(*other);
    }
    return names.isEmpty() ? QString() : tr("also: %1").arg(names.join(QStringLiteral(", ")));
}

bool KeyBindings::setData(const QModelIndex& index, const QVariant& value, int role)
{
    if (role != Qt::EditRole || index.column() != Keys || !checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return false;
    }
    const auto key = value.value<QKeySequence>();
    setKeys(index.row(), key.isEmpty() ? QList<QKeySequence>() : QList<QKeySequence>{key});
    return true;
}

QVariant KeyBindings::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return {};
    }
    switch (section) {
    case Command:
        return tr("Command");
    case Keys:
        return tr("Keys");
    default:
        return tr("Clash");
    }
}

Qt::ItemFlags KeyBindings::flags(const QModelIndex& index) const
{
    const Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    return index.column() == Keys ? flags | Qt::ItemIsEditable : flags;
}

KeysDialog::KeysDialog(KeyBindings& bindings, QWidget* parent) : QDialog(parent), m_bindings(bindings)
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
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(kRowHeight);
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
    visualizers::makeColumn(this, {}, {search, {m_table, 1}, buttons});
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
