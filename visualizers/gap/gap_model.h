// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/gap.h"

#include <QAbstractTableModel>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace residua::visualizers {

/// A row of the table: one weight, or all weights, by a method.
struct GapRow {
    std::optional<std::size_t> weight; ///< nullopt: all
    std::size_t method = 0;
};

/// The fits of a gap as a table: the whole network by each method, then each weight by each method. GUI thread.
class GapModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column {
        Weight,
        Size,
        Rank,
        Follows,
        Method,
        FunctionError,
        WeightError,
        Correlation,
        Bound,
        OutputGap,
        Seconds,
        Columns
    };

    using QAbstractTableModel::QAbstractTableModel;

    /// Sets the gap. If weights, methods and order are unchanged, the rows stay and keep the selection.
    void setGap(const engine::Gap& gap, const std::vector<std::size_t>& order);
    [[nodiscard]] GapRow row(int row) const;
    /// Returns the first row of a weight; −1 if it has none.
    [[nodiscard]] int firstRowOf(std::size_t weight) const;

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    [[nodiscard]] QString textOf(const GapRow& row, int column) const;
    [[nodiscard]] QString ofAll(std::size_t method, int column) const;
    [[nodiscard]] QString ofWeight(std::size_t weight, const engine::GapFit& fit, int column) const;

    engine::Gap m_gap;
    std::vector<std::size_t> m_order; ///< of the weights
};

/// The place of a weight: "layers.3.attention.q.weight" is in the node "attention" of layer 3.
struct WeightPlace {
    std::int64_t layer = 0; ///< the stored layer, from 1; 0: the stem or the head
    std::string node;
    std::string tower = {}; ///< the name of the further tower that has it; empty: the first
    bool operator==(const WeightPlace&) const = default;
};
[[nodiscard]] WeightPlace placeOfWeight(const std::string& name);
/// Returns the name without the common parts: "3 attention.q", of a further tower "encoder 3 attention.q".
[[nodiscard]] std::string shortNameOf(const std::string& name);

/// The quantity that the bars show.
enum class GapMeasure { FunctionError, WeightError, Correlation, Seconds };
/// Returns nullopt if there is no fit.
[[nodiscard]] std::optional<double> valueOf(const engine::GapFit& fit, GapMeasure measure);

/// Returns an upper bound on the least relative error of any factors of a weight (theorem 3.5): the error of the
/// spectral start minus the theorem's bound. Nullopt without a spectral start, or if the theorem does not apply.
[[nodiscard]] std::optional<double> bestAtMost(const engine::Gap& gap, std::size_t weight);

} // namespace residua::visualizers
