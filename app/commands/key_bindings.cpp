// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/key_bindings.h"

#include <QAction>
#include <QSettings>

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

} // namespace residua::app
