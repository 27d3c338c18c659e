// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/palette/palette_model.h"

#include "app/engine/background.h"
#include "app/look/format.h"
#include "app/look/theme.h"
#include "projects/nodes/towers.h"

#include <QFont>
#include <QMimeData>

#include <iterator>

namespace residua::app {

namespace {

/// The internal id of a group's index. An item's id is its group's row + 1.
constexpr quintptr kGroup = 0;

QString iconOf(PaletteKind kind)
{
    switch (kind) {
    case PaletteKind::Topology:
        return QStringLiteral("topology");
    case PaletteKind::Block:
        return QStringLiteral("block");
    case PaletteKind::Node:
        break;
    }
    return QStringLiteral("node");
}

/// Returns a name of an item that is valid in other processes and sessions.
QByteArray nameOf(const PaletteItem& item)
{
    return QByteArray::number(static_cast<int>(item.kind)) + ':' + QByteArray::fromStdString(item.key);
}

} // namespace

PaletteModel::PaletteModel(QObject* parent) : QAbstractItemModel(parent), m_groups(paletteGroups())
{
    m_thread.setMaxThreadCount(1);
    m_workOut.setSingleShot(true);
    m_workOut.setInterval(0);
    connect(&m_workOut, &QTimer::timeout, this, &PaletteModel::workOutAdded);
}

void PaletteModel::setContext(projects::ProjectSnapshot project, const Place& selection, std::size_t shown)
{
    const bool sameProject = shown == m_shown && (project == m_project || *project == *m_project);
    if (sameProject && selection == m_selection) {
        return;
    }
    m_selection = selection;
    m_costs.clear();
    if (!sameProject) { // a topology is for the whole stack, independent of the selection
        m_project = std::move(project);
        m_shown = shown;
        ++m_state;
        regroup();
        announceAdded();
    }
}

void PaletteModel::announceAdded()
{
    const QModelIndex topologies = index(0, 0);
    emit dataChanged(index(0, Added, topologies), index(rowCount(topologies) - 1, Added, topologies));
}

void PaletteModel::workOutAdded()
{
    if (m_addedTo == m_state) {
        return;
    }
    m_addedTo = m_state;
    inBackground(
        m_thread, this,
        [project = m_project, shown = m_shown, topologies = m_groups.front().items] {
            std::map<std::string, std::int64_t> added;
            const auto now = projects::costOf(projects::viewOf(*project, shown));
            for (const PaletteItem& item : topologies) {
                const auto cost = now ? app::costWith(*project, ProjectPlace{}, item, shown) : now.error();
                if (cost) {
                    added.emplace(item.key, cost->parameters - now->total.parameters);
                }
            }
            return added;
        },
        [this, state = m_state](std::map<std::string, std::int64_t> added) {
            if (state == m_state) {
                m_added = std::move(added);
                announceAdded();
            }
        });
}

void PaletteModel::setLibrary(const std::vector<projects::BlockFile>& blocks)
{
    m_library = blocks;
    m_costs.clear();
    regroup();
}

/// Presets come first, then the blocks of the project and the user.
void PaletteModel::regroup()
{
    std::vector<PaletteGroup> groups = paletteGroups();
    std::vector<PaletteGroup> own = ownBlockGroups(*m_project, m_library);
    constexpr std::ptrdiff_t kAfterPresets = 2; // topologies, blocks
    groups.insert(groups.begin() + kAfterPresets, std::make_move_iterator(own.begin()),
                  std::make_move_iterator(own.end()));
    if (groups != m_groups) {
        beginResetModel();
        m_groups = std::move(groups);
        endResetModel();
    }
}

const PaletteItem* PaletteModel::itemAt(const QModelIndex& index) const
{
    if (!index.isValid() || index.internalId() == kGroup) {
        return nullptr;
    }
    return &m_groups[index.internalId() - 1].items[static_cast<std::size_t>(index.row())];
}

const PaletteItem* PaletteModel::itemOf(const QMimeData& data) const
{
    const QByteArray name = data.data(QString::fromLatin1(kMimeType));
    for (const PaletteGroup& group : m_groups) {
        for (const PaletteItem& item : group.items) {
            if (nameOf(item) == name) {
                return &item;
            }
        }
    }
    return nullptr;
}

Result<projects::DocumentChange> PaletteModel::changeFor(const PaletteItem& item) const
{
    return takeUp(*m_project, m_selection, item);
}

std::optional<projects::Cost> PaletteModel::costWith(const PaletteItem& item) const
{
    const auto [cost, fresh] = m_costs.try_emplace({item.kind, item.key});
    if (fresh) {
        if (const auto known = app::costWith(*m_project, m_selection, item, m_shown)) {
            cost->second = *known;
        }
    }
    return cost->second;
}

QModelIndex PaletteModel::index(int row, int column, const QModelIndex& parent) const
{
    if (!hasIndex(row, column, parent)) {
        return {};
    }
    return createIndex(row, column, parent.isValid() ? static_cast<quintptr>(parent.row()) + 1 : kGroup);
}

QModelIndex PaletteModel::parent(const QModelIndex& child) const
{
    if (!child.isValid() || child.internalId() == kGroup) {
        return {};
    }
    return createIndex(static_cast<int>(child.internalId() - 1), 0, kGroup);
}

int PaletteModel::rowCount(const QModelIndex& parent) const
{
    if (!parent.isValid()) {
        return static_cast<int>(m_groups.size());
    }
    const bool group = parent.internalId() == kGroup && parent.column() == 0;
    return group ? static_cast<int>(m_groups[static_cast<std::size_t>(parent.row())].items.size()) : 0;
}

int PaletteModel::columnCount(const QModelIndex&) const
{
    return ColumnCount;
}

QVariant PaletteModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    if (const PaletteItem* item = itemAt(index)) {
        return itemData(*item, index.column(), role);
    }
    if (index.column() != Name) {
        return {};
    }
    if (role == Qt::FontRole) {
        QFont font = textFont();
        font.setWeight(QFont::DemiBold);
        return font;
    }
    return role == Qt::DisplayRole ? QVariant(m_groups[static_cast<std::size_t>(index.row())].title) : QVariant();
}

QVariant PaletteModel::itemData(const PaletteItem& item, int column, int role) const
{
    switch (role) {
    case Qt::DisplayRole:
        return column == Name ? item.title : addedText(item);
    case Qt::DecorationRole:
        return column == Name ? QVariant(themedIcon(iconOf(item.kind))) : QVariant();
    case Qt::FontRole:
        return column == Added ? QVariant(numberFont()) : QVariant();
    case Qt::TextAlignmentRole:
        return QVariant((column == Added ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::ToolTipRole:
        return item.source.isEmpty() ? item.summary : item.summary + QLatin1Char('\n') + item.source;
    case Qt::AccessibleDescriptionRole:
        return item.summary;
    case kSearchRole:
        return QStringLiteral("%1 %2 %3").arg(item.title, item.summary, item.source);
    default:
        return {};
    }
}

/// Only topologies show their additional parameters, to compare them. The cost of a node depends on its wires.
QString PaletteModel::addedText(const PaletteItem& item) const
{
    if (item.kind != PaletteKind::Topology) {
        return {};
    }
    if (m_addedTo != m_state) {
        m_workOut.start();
    }
    const auto added = m_added.find(item.key);
    return added == m_added.end() ? QString() : formatChange(static_cast<double>(added->second), formatCount);
}

QVariant PaletteModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation == Qt::Horizontal && role == Qt::SizeHintRole) {
        return QSize(1, 1); // the header is hidden, but its titles would keep the columns wide
    }
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return {};
    }
    return section == Name ? tr("Name") : tr("Parameters");
}

Qt::ItemFlags PaletteModel::flags(const QModelIndex& index) const
{
    const Qt::ItemFlags flags = QAbstractItemModel::flags(index);
    return itemAt(index) ? flags | Qt::ItemIsDragEnabled : flags & ~Qt::ItemIsSelectable;
}

QStringList PaletteModel::mimeTypes() const
{
    return {QString::fromLatin1(kMimeType)};
}

QMimeData* PaletteModel::mimeData(const QModelIndexList& indexes) const
{
    for (const QModelIndex& index : indexes) {
        if (const PaletteItem* item = itemAt(index)) {
            auto* data = new QMimeData;
            data->setData(QString::fromLatin1(kMimeType), nameOf(*item));
            return data;
        }
    }
    return nullptr;
}

} // namespace residua::app
