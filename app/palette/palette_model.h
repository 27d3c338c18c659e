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

/// The palette as a tree of two levels: groups and their items, each topology with the parameters that it would add.
/// These costs are computed on a thread of its own once they are visible; until then the earlier values stay.
class PaletteModel : public QAbstractItemModel {
    Q_OBJECT
public:
    enum Column { Name, Added, ColumnCount };
    /// The searched texts: title, summary and source.
    static constexpr int kSearchRole = Qt::UserRole;
    static constexpr const char* kMimeType = "application/x-residua-palette";

    explicit PaletteModel(QObject* parent = nullptr);

    /// Sets the project and the selection for costs and edits.
    void setContext(projects::ProjectSnapshot project, const Place& selection, std::size_t shown = 0);
    /// Sets the current cost of the project; nullopt if unknown.
    void setCostNow(const std::optional<projects::Cost>& cost) { m_now = cost; }
    /// Sets the user's own blocks.
    void setLibrary(const std::vector<projects::BlockFile>& blocks);
    /// Returns null for a group.
    [[nodiscard]] const PaletteItem* itemAt(const QModelIndex& index) const;
    /// Returns the item of a drag, or null for other data.
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
    std::size_t m_shown = 0; ///< the tower that the project is a view of
    Place m_selection;
    std::optional<projects::Cost> m_now;
    mutable std::map<std::pair<PaletteKind, std::string>, std::optional<projects::Cost>> m_costs;
    /// Additional parameters of each topology, by its key, for the project of state m_addedTo.
    std::map<std::string, std::int64_t> m_added;
    std::uint64_t m_addedTo = 0;
    std::uint64_t m_state = 1; ///< of the project
    mutable QTimer m_workOut;  ///< runs once a view has requested the costs
    QThreadPool m_thread;
};

} // namespace residua::app
