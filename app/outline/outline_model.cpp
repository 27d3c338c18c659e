// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/outline/outline_model.h"

#include "app/look/theme.h"
#include "projects/depth/depth_names.h"

#include <algorithm>
#include <utility>

namespace residua::app {

struct OutlineModel::Item {
    OutlineRow row;
    Item* parent = nullptr;
    Items children;
    bool asked = false; ///< true if the view has requested the children

    [[nodiscard]] int position() const
    {
        const auto& siblings = parent->children;
        return static_cast<int>(
            std::find_if(siblings.begin(), siblings.end(), [&](const auto& item) { return item.get() == this; }) -
            siblings.begin());
    }
};

namespace {

std::vector<OutlineRow> rowsBelow(const OutlineRow& row)
{
    return row.children ? row.children() : std::vector<OutlineRow>();
}

bool looksDifferent(const OutlineRow& a, const OutlineRow& b)
{
    const bool sameProperty =
        a.property.has_value() == b.property.has_value() &&
        (!a.property || (a.property->value == b.property->value && a.property->choices == b.property->choices));
    return a.name != b.name || a.value != b.value || a.toolTip != b.toolTip || !sameProperty;
}

/// True if the row is a layer, and not a field or shortcut of a layer.
bool isLayer(const OutlineRow& row)
{
    const auto* layers = std::get_if<LayersPlace>(&row.place);
    return layers && layers->layers.size() == 1 && row.children && !row.property && !row.shortcut;
}

} // namespace

OutlineModel::OutlineModel(QObject* parent) : QAbstractItemModel(parent), m_root(std::make_unique<Item>())
{
    m_root->asked = true;
}

OutlineModel::~OutlineModel() = default;

void OutlineModel::setDocument(DocumentSnapshot document, const std::vector<engine::RunInfo>& runs, std::size_t shown)
{
    m_document = std::move(document);
    m_ports = projects::portsOf(m_document->project.stack().topology);
    sync(*m_root, outlineOf(m_document, runs, shown));
}

OutlineModel::Items& OutlineModel::childrenOf(Item& item)
{
    if (!item.asked) {
        item.asked = true;
        for (OutlineRow& row : rowsBelow(item.row)) {
            item.children.push_back(std::make_unique<Item>());
            item.children.back()->row = std::move(row);
            item.children.back()->parent = &item;
        }
    }
    return item.children;
}

void OutlineModel::sync(Item& item, std::vector<OutlineRow> rows)
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
            child->row = std::move(rows[i]);
            child->parent = &item;
            children.insert(children.begin() + at, std::move(child));
            endInsertRows();
            continue;
        }
        if (const auto gap = static_cast<int>(found - children.begin()) - at; gap > 0) {
            beginRemoveRows(place(), at, at + gap - 1);
            children.erase(children.begin() + at, children.begin() + at + gap);
            endRemoveRows();
        }
        replace(*children[i], std::move(rows[i]));
    }
    if (children.size() > rows.size()) {
        beginRemoveRows(place(), static_cast<int>(rows.size()), static_cast<int>(children.size()) - 1);
        children.erase(children.begin() + static_cast<std::ptrdiff_t>(rows.size()), children.end());
        endRemoveRows();
    }
}

/// Replaces a row. Children that no view has requested are not made, unless an item gains its first child or loses its
/// last, so that the rows' signals report it.
void OutlineModel::replace(Item& item, OutlineRow row)
{
    if (static_cast<bool>(item.row.children) != static_cast<bool>(row.children)) {
        (void)childrenOf(item);
    }
    const bool changed = looksDifferent(item.row, row);
    item.row = std::move(row);
    if (changed) {
        emit dataChanged(indexOf(item, Name), indexOf(item, Value));
    }
    if (item.asked) {
        sync(item, rowsBelow(item.row));
    }
}

void OutlineModel::setLive(editor::LiveSnapshot live)
{
    m_live = live ? std::move(live) : std::make_shared<const editor::LiveWeights>();
    announceLive(*m_root);
}

/// Shortcuts of one target are adjacent, and so are layers, so one signal covers all of them.
void OutlineModel::announceLive(const Item& item)
{
    const Item* first = nullptr;
    const Item* last = nullptr;
    for (const auto& child : item.children) {
        if (child->row.shortcut || isLayer(child->row)) {
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
    return index.isValid() ? &itemAt(index).row : nullptr;
}

QModelIndex OutlineModel::indexOf(const Place& place) const
{
    const std::vector<std::string> path = m_document ? outlinePath(*m_document, place) : std::vector<std::string>();
    Item* item = m_root.get();
    for (const std::string& key : path) {
        Items& children = childrenOf(*item);
        const auto found = std::ranges::find_if(children, [&](const auto& child) { return child->row.key == key; });
        if (found == children.end()) {
            return {};
        }
        item = found->get();
    }
    return path.empty() ? QModelIndex() : indexOf(*item, Name);
}

OutlineModel::Item& OutlineModel::itemAt(const QModelIndex& index) const
{
    return index.isValid() ? *static_cast<Item*>(index.internalPointer()) : *m_root;
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
    return createIndex(row, column, childrenOf(itemAt(parent))[static_cast<std::size_t>(row)].get());
}

QModelIndex OutlineModel::parent(const QModelIndex& child) const
{
    const Item* parent = child.isValid() ? itemAt(child).parent : nullptr;
    return parent && parent != m_root.get() ? indexOf(*parent, Name) : QModelIndex();
}

int OutlineModel::rowCount(const QModelIndex& parent) const
{
    return parent.column() > Name ? 0 : static_cast<int>(childrenOf(itemAt(parent)).size());
}

bool OutlineModel::hasChildren(const QModelIndex& parent) const
{
    const Item& item = itemAt(parent);
    return parent.column() <= Name && (item.asked ? !item.children.empty() : static_cast<bool>(item.row.children));
}

int OutlineModel::columnCount(const QModelIndex&) const
{
    return ColumnCount;
}

QString OutlineModel::valueOf(const OutlineRow& row) const
{
    if (isLayer(row) && !m_live->isActive(std::get<LayersPlace>(row.place).layers.front())) {
        return tr("%1, left out now").arg(row.value);
    }
    const QString weight = row.shortcut ? weightOf(*row.shortcut) : QString();
    const auto isNow = [&row](projects::ShortcutState::Kind state) {
        return row.property && row.property->value.toInt() == static_cast<int>(state) + 1; // 0: as in the wiring
    };
    if (weight.isEmpty() || isNow(projects::ShortcutState::Pruned)) {
        return row.value;
    }
    return isNow(projects::ShortcutState::Frozen) ? tr("%1, %2").arg(row.value, weight) : weight;
}

/// Returns the shortcut's weight, one for each port with a mix. A shortcut to the final output has a single weight.
QString OutlineModel::weightOf(const projects::Shortcut& shortcut) const
{
    const auto textIn = [&](projects::MixPort port) {
        const editor::WeightGrid* grid = m_live->port(port).own;
        const auto weight = grid ? grid->of(shortcut) : std::nullopt;
        return weight ? QString::fromStdString(projects::weightText(*weight, m_live->scale())) : QString();
    };
    QStringList weights;
    for (const projects::MixPort port : m_ports) {
        if (const QString text = textIn(port); !text.isEmpty()) {
            const std::string name(nameOf(port));
            weights << (name.empty() ? text : QStringLiteral("%1 %2").arg(QString::fromStdString(name), text));
        }
    }
    return weights.isEmpty() ? textIn(projects::MixPort::Final) : weights.join(QStringLiteral("  "));
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
    emit valueEdited(Property(*row->property), wanted); // a copy, because the edit rebuilds the rows
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
