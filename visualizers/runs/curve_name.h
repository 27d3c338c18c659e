// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/matrix_name.h"

#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace residua::visualizers {

/// A row of a recorded matrix (engine/base/api/row_curves.h) with one curve per column.
struct CurveRow {
    engine::MatrixName matrix;
    std::int64_t row;

    CurveRow(engine::MatrixName of, std::int64_t at) : matrix(std::move(of)), row(at) {}
    std::strong_ordering operator<=>(const CurveRow&) const = default;
};

/// The curve of one column of such a row.
struct ColumnCurve {
    CurveRow row;
    std::int64_t column; ///< from 1

    ColumnCurve(CurveRow of, std::int64_t at) : row(std::move(of)), column(at) {}
    std::strong_ordering operator<=>(const ColumnCurve&) const = default;
};

/// The identity of a run's curve in RunCurves: a metric, by its name, or a column. A row has consecutive ones.
using CurveName = std::variant<std::string, ColumnCurve>;

/// Returns the column of a curve; 0 if it has no column.
[[nodiscard]] inline std::int64_t columnOf(const CurveName& name)
{
    const auto* const curve = std::get_if<ColumnCurve>(&name);
    return curve != nullptr ? curve->column : 0;
}

} // namespace residua::visualizers
