// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/palette/palette_items.h"
#include "projects/edit/history.h"

#include <QAbstractItemModel>
#include <QThreadPool>
#include <QTimer>

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace residua::app {

/// The palette as a tree of two levels: groups and their items, each topology with what choosing it would add to
/// the network's parameters. Those costs are worked out once they are to be seen, on a thread of their own; until they
/// are known, what was shown before stays.
class PaletteModel : public QAbstractItemModel {
    Q_OBJECT
public:
    enum Column { Name, Added, ColumnCount };
    /// What a search looks through: title, summary and source.
    static constexpr int kSearchRole = Qt::UserRole;
    static constexpr const char* kMimeType = "application/x-residua-palette";

    explicit PaletteModel(QObject* parent = nullptr);

    /// Sets the project and the selection that costs and edits are worked out for.
    void setContext(projects::ProjectSnapshot project, const Place& selection);
    /// What the project costs as it is; nullopt where that cannot be known.
    void setCostNow(const std::optional<projects::Cost>& cost);
    /// The user's own blocks.
    void setLibrary(const std::vector<projects::BlockFile>& blocks);
    /// nullptr for a group.
    [[nodiscard]] const PaletteItem* itemAt(const QModelIndex& index) const;
    /// The item that a drag carries; nullptr for other data.
    [[nodiscard]] const PaletteItem* itemOf(const QMimeData& data) const;
    [[nodiscard]] Result<projects::DocumentChange> changeFor(const PaletteItem& item) const;
    [[nodiscard]] std::optional<projects::Cost> costWith(const PaletteItem& item) const;
    [[nodiscard]] const std::optional<projects::Cost>& costNow() const { return m_now; }

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& child) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    QStringList mimeTypes() const override;
    QMimeData* mimeData(const QModelIndexList& indexes) const override;

private:
    void regroup();
    [[nodiscard]] QVariant itemData(const PaletteItem& item, int column, int role) const;
    [[nodiscard]] QString addedText(const PaletteItem& item) const;
    void workOutAdded();
    void announceAdded();

    std::vector<PaletteGroup> m_groups;
    std::vector<projects::BlockFile> m_library;
    projects::ProjectSnapshot m_project = std::make_shared<const projects::Project>();
    Place m_selection;
    std::optional<projects::Cost> m_now;
    mutable std::map<std::pair<PaletteKind, std::string>, std::optional<projects::Cost>> m_costs;
    /// What each topology would add, by its key, for the project of state m_addedTo.
    std::map<std::string, std::int64_t> m_added;
    std::uint64_t m_addedTo = 0;
    std::uint64_t m_state = 1; ///< of the project
    mutable QTimer m_workOut;  ///< runs once a view has asked for the costs
    QThreadPool m_thread;
};

} // namespace residua::app
