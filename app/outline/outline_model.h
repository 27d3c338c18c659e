// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/outline/outline_tree.h"
#include "editor/canvas/canvas.h"
#include "editor/scenes/live_weights.h"

#include <QAbstractItemModel>

#include <memory>
#include <vector>

namespace residua::app {

/// The outline as a Qt model of two columns, name and value. Rows are made on demand. A refresh changes only rows that
/// differ, so that expansion and selection stay. Editing a value requests an edit and changes nothing itself.
class OutlineModel : public QAbstractItemModel {
    Q_OBJECT
public:
    enum Column { Name, Value, ColumnCount };

    explicit OutlineModel(QObject* parent = nullptr);
    ~OutlineModel() override;

    /// `document` is the view of tower `shown`.
    void setDocument(DocumentSnapshot document, const std::vector<engine::RunInfo>& runs, std::size_t shown = 0);
    /// Sets the live data: learned weights of shortcuts, and whether the current step leaves a layer out.
    void setLive(editor::LiveSnapshot live);

    /// Returns null for an invalid index.
    [[nodiscard]] const OutlineRow* rowAt(const QModelIndex& index) const;
    /// Returns the row of a place; invalid if it has no row.
    [[nodiscard]] QModelIndex indexOf(const Place& place) const;

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& child) const override;
    bool hasChildren(const QModelIndex& parent = {}) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role = Qt::EditRole) override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

signals:
    void valueEdited(const residua::app::Property& property, const QVariant& value);

private:
    struct Item;
    using Items = std::vector<std::unique_ptr<Item>>;
    [[nodiscard]] Item& itemAt(const QModelIndex& index) const;
    /// Returns the rows below an item, which are made at the first request.
    [[nodiscard]] static Items& childrenOf(Item& item);
    [[nodiscard]] QModelIndex indexOf(const Item& item, int column) const;
    void sync(Item& item, std::vector<OutlineRow> rows);
    void replace(Item& item, OutlineRow row);
    void announceLive(const Item& item);
    [[nodiscard]] QString valueOf(const OutlineRow& row) const;
    [[nodiscard]] QString weightOf(const projects::Shortcut& shortcut) const;

    DocumentSnapshot m_document;
    std::unique_ptr<Item> m_root;
    editor::LiveSnapshot m_live = std::make_shared<const editor::LiveWeights>();
    std::vector<projects::MixPort> m_ports; ///< ports with mixes of their own
};

} // namespace residua::app
