// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/outline/outline_model.h"

#include "app/look/icons.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace residua::app {

struct OutlineModel::Item {
    OutlineRow row; ///< its own children are empty: they are `children`
    Item* parent = nullptr;
    std::vector<std::unique_ptr<Item>> children;

    [[nodiscard]] int position() const
    {
        const auto& siblings = parent->children;
        return static_cast<int>(
            std::find_if(siblings.begin(), siblings.end(), [&](const auto& item) { return item.get() == this; }) -
            siblings.begin());
    }
};

namespace {

OutlineRow withoutChildren(const OutlineRow& row)
{
    return {row.key, row.name, row.value, row.toolTip, row.icon, row.place, row.property, row.shortcut, {}};
}

bool looksDifferent(const OutlineRow& a, const OutlineRow& b)
{
    const bool sameProperty =
        a.property.has_value() == b.property.has_value() &&
        (!a.property || (a.property->value == b.property->value && a.property->choices == b.property->choices));
    return a.name != b.name || a.value != b.value || a.toolTip != b.toolTip || !sameProperty;
}

} // namespace

OutlineModel::OutlineModel(QObject* parent) : QAbstractItemModel(parent), m_root(std::make_unique<Item>()) {}

OutlineModel::~OutlineModel() = default;

void OutlineModel::setRows(const std::vector<OutlineRow>& rows)
{
    sync(*m_root, rows);
}

void OutlineModel::sync(Item& item, const std::vector<OutlineRow>& rows)
{
    auto& children = item.children;
    const auto place = [&] { return &item == m_root.get() ? QModelIndex() : indexOf(item, Name); };
    const auto keyed = [&children](std::size_t from, const std::string& key) {
        return std::find_if(children.begin() + static_cast<std::ptrdiff_t>(from), children.end(),
                            [&](const auto& child) { return child->row.key == key; });
    };
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const int at = static_cast<int>(i);
        const auto found = keyed(i, rows[i].key);
        if (found == children.end()) {
            beginInsertRows(place(), at, at);
            auto child = std::make_unique<Item>();
            child->row = withoutChildren(rows[i]);
            child->parent = &item;
            children.insert(children.begin() + at, std::move(child));
            endInsertRows();
        } else if (const auto gap = static_cast<int>(found - children.begin()) - at; gap > 0) {
            beginRemoveRows(place(), at, at + gap - 1);
            children.erase(children.begin() + at, children.begin() + at + gap);
            endRemoveRows();
        }
        Item& child = *children[i];
        const bool changed = looksDifferent(child.row, rows[i]);
        child.row = withoutChildren(rows[i]);
        if (changed) {
            emit dataChanged(indexOf(child, Name), indexOf(child, Value));
        }
        sync(child, rows[i].children);
    }
    if (children.size() > rows.size()) {
        beginRemoveRows(place(), static_cast<int>(rows.size()), static_cast<int>(children.size()) - 1);
        children.erase(children.begin() + static_cast<std::ptrdiff_t>(rows.size()), children.end());
        endRemoveRows();
    }
}

void OutlineModel::setLive(const engine::Matrix& mix)
{
    m_live = mix;
    announceLive(*m_root);
}

void OutlineModel::clearLive()
{
    if (m_live) {
        m_live.reset();
        announceLive(*m_root);
    }
}

/// Shortcuts of one target are neighbours: one signal for all of them.
void OutlineModel::announceLive(const Item& item)
{
    const Item* first = nullptr;
    const Item* last = nullptr;
    for (const auto& child : item.children) {
        if (child->row.shortcut) {
            first = first ? first : child.get();
            last = child.get();
        }
        announceLive(*child);
    }
    if (first) {
        emit dataChanged(indexOf(*first, Value), indexOf(*last, Value), {Qt::DisplayRole});
    }
}

const OutlineRow* OutlineModel::rowAt(const QModelIndex& index) const
{
    return index.isValid() ? &itemAt(index)->row : nullptr;
}

const OutlineModel::Item* OutlineModel::find(const Item& under, const Place& place) const
{
    for (const auto& child : under.children) {
        if (!child->row.property && child->row.place == place) {
            return child.get();
        }
        if (child->row.shortcut && child->row.place == place) {
            return child.get();
        }
        if (const Item* found = find(*child, place)) {
            return found;
        }
    }
    return nullptr;
}

QModelIndex OutlineModel::indexOf(const Place& place) const
{
    const Item* item = find(*m_root, place);
    return item ? indexOf(*item, Name) : QModelIndex();
}

OutlineModel::Item* OutlineModel::itemAt(const QModelIndex& index) const
{
    return index.isValid() ? static_cast<Item*>(index.internalPointer()) : m_root.get();
}

QModelIndex OutlineModel::indexOf(const Item& item, int column) const
{
    return createIndex(item.position(), column, &item);
}

QModelIndex OutlineModel::index(int row, int column, const QModelIndex& parent) const
{
    if (!hasIndex(row, column, parent)) {
        return {};
    }
    return createIndex(row, column, itemAt(parent)->children[static_cast<std::size_t>(row)].get());
}

QModelIndex OutlineModel::parent(const QModelIndex& child) const
{
    const Item* parent = child.isValid() ? itemAt(child)->parent : nullptr;
    return parent && parent != m_root.get() ? indexOf(*parent, Name) : QModelIndex();
}

int OutlineModel::rowCount(const QModelIndex& parent) const
{
    return parent.column() > Name ? 0 : static_cast<int>(itemAt(parent)->children.size());
}

int OutlineModel::columnCount(const QModelIndex&) const
{
    return ColumnCount;
}

QString OutlineModel::valueOf(const OutlineRow& row) const
{
    if (m_live && row.shortcut) {
        const std::int64_t target = row.shortcut->target - 1;
        const std::int64_t source = row.shortcut->source;
        if (target >= 0 && target < m_live->rows && source >= 0 && source < m_live->columns) {
            if (const float weight = m_live->at(target, source); !std::isnan(weight)) {
                return QString::number(static_cast<double>(weight), 'f', 4);
            }
        }
    }
    return row.value;
}

QVariant OutlineModel::data(const QModelIndex& index, int role) const
{
    const OutlineRow* row = rowAt(index);
    if (!row) {
        return {};
    }
    const bool toggle = row->property && row->property->kind == PropertyKind::Toggle;
    switch (role) {
    case Qt::DisplayRole:
        if (index.column() == Name) {
            return row->name;
        }
        return toggle ? QString() : valueOf(*row);
    case Qt::EditRole:
        return index.column() == Value && row->property ? row->property->value : QVariant(row->name);
    case Qt::CheckStateRole:
        return index.column() == Value && toggle ? QVariant(row->property->value.toBool() ? Qt::Checked : Qt::Unchecked)
                                                 : QVariant();
    case Qt::DecorationRole:
        return index.column() == Name ? QVariant(themedIcon(row->icon)) : QVariant();
    case Qt::ToolTipRole:
        return row->toolTip;
    case Qt::AccessibleTextRole:
        return row->value.isEmpty() ? row->name : QStringLiteral("%1: %2").arg(row->name, valueOf(*row));
    default:
        return {};
    }
}

bool OutlineModel::setData(const QModelIndex& index, const QVariant& value, int role)
{
    const OutlineRow* row = rowAt(index);
    if (!row || !row->property || index.column() != Value || (role != Qt::EditRole && role != Qt::CheckStateRole)) {
        return false;
    }
    const QVariant wanted = role == Qt::CheckStateRole ? QVariant(value.toInt() == Qt::Checked) : value;
    if (wanted == row->property->value) {
        return false;
    }
    emit valueEdited(Property(*row->property), wanted); // a copy: the edit rebuilds the rows
    return true;
}

QVariant OutlineModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return {};
    }
    return section == Name ? tr("Part") : tr("Value");
}

Qt::ItemFlags OutlineModel::flags(const QModelIndex& index) const
{
    const OutlineRow* row = rowAt(index);
    if (!row) {
        return Qt::NoItemFlags;
    }
    Qt::ItemFlags flags = Qt::ItemIsEnabled | Qt::ItemIsSelectable;
    if (index.column() == Value && row->property) {
        flags |= row->property->kind == PropertyKind::Toggle ? Qt::ItemIsUserCheckable : Qt::ItemIsEditable;
    }
    return flags;
}

} // namespace residua::app
