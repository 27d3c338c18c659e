// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/outline/outline_tree.h"

#include <QAbstractItemModel>

#include <memory>
#include <optional>

namespace residua::app {

/// The outline as a Qt model of two columns, name and value. A refresh changes only the rows that differ, so
/// that what is unfolded and selected stays. Editing a value asks for an edit; it changes nothing by itself.
class OutlineModel : public QAbstractItemModel {
    Q_OBJECT
public:
    enum Column { Name, Value, ColumnCount };

    explicit OutlineModel(QObject* parent = nullptr);
    ~OutlineModel() override;

    void setRows(const std::vector<OutlineRow>& rows);
    /// The learned weights, shown beside their shortcuts: mix.at(target − 1, source).
    void setLive(const engine::Matrix& mix);
    void clearLive();

    /// nullptr for an invalid index.
    [[nodiscard]] const OutlineRow* rowAt(const QModelIndex& index) const;
    /// The row that stands for a place; invalid where there is none.
    [[nodiscard]] QModelIndex indexOf(const Place& place) const;

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& child) const override;
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
    [[nodiscard]] Item* itemAt(const QModelIndex& index) const;
    [[nodiscard]] QModelIndex indexOf(const Item& item, int column) const;
    [[nodiscard]] const Item* find(const Item& under, const Place& place) const;
    void sync(Item& item, const std::vector<OutlineRow>& rows);
    void announceLive(const Item& item);
    [[nodiscard]] QString valueOf(const OutlineRow& row) const;

    std::unique_ptr<Item> m_root;
    std::optional<engine::Matrix> m_live;
};

} // namespace residua::app
