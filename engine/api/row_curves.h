// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/matrix_name.h"
#include "engine/api/values.h"

#include <cstdint>

namespace residua::engine {

/// The rows of matrix::kLayerMagnitudes, of a layer or of a half of it.
enum class LayerMagnitude : std::int64_t {
    Stream, ///< what it reads: the residual stream, or the mix that stands for it
    Branch, ///< what it computes from that
};
inline constexpr std::int64_t kLayerMagnitudeRows = 2;

/// The rows of matrix::kStability.
enum class StabilityRow : std::int64_t {
    Effect, ///< Ψ_l = ‖F₋ₗ(x) − F(x)‖₂ of what leaves the stack (definition 5.2)
    Output, ///< ‖y^(l)‖₂, what the residual is after the layer
    Rise,   ///< L(F₋ₗ) − L(F)
};
inline constexpr std::int64_t kStabilityRows = 3;

/// The number of a row that has a name.
template <class Row>
[[nodiscard]] constexpr std::int64_t rowNumber(Row row)
{
    return static_cast<std::int64_t>(row);
}

/// A row of a recorded matrix that is drawn as curves over the steps, one for each column, and not as a heatmap.
struct RowCurves {
    const char* matrix;
    std::int64_t row;
    const char* title;
    const char* unit;
    const char* column; ///< what a column is, counted from 1
};
/// Rows of one matrix stand together, in order.
inline constexpr RowCurves kRowCurves[] = {
    {matrix::kLayerMagnitudes, rowNumber(LayerMagnitude::Stream), "what layers read", "root mean square", "layer"},
    {matrix::kLayerMagnitudes, rowNumber(LayerMagnitude::Branch), "branches of layers", "root mean square", "layer"},
    {matrix::kReadRanks, 0, "rank of what layers read", "effective rank", "layer"},
    {matrix::kLayerGradients, 0, "gradients of layers", "norm", "layer"},
    {matrix::kStability, rowNumber(StabilityRow::Effect), "Ψ: output without a layer", "norm of the difference",
     "layer"},
    {matrix::kStability, rowNumber(StabilityRow::Output), "‖y‖: output of layers", "norm", "layer"},
    {matrix::kStability, rowNumber(StabilityRow::Rise), "loss without a layer", "above that of all", "layer"},
    {matrix::kStabilityGap, 0, "loss, less its mean without a layer", "", "network"},
    {matrix::kDegreeErrors, 0, "error by degree", "share of the coefficients", "degree"},
};

[[nodiscard]] inline bool isDrawnAsCurves(const MatrixName& matrix)
{
    for (const RowCurves& row : kRowCurves) {
        if (matrix.text() == row.matrix) {
            return true;
        }
    }
    return false;
}
/// Whether the matrix is one of these and has their rows; another may only have the name.
[[nodiscard]] inline bool hasRowCurves(const Matrix& matrix)
{
    std::int64_t rows = 0;
    for (const RowCurves& row : kRowCurves) {
        rows += matrix.name.text() == row.matrix ? 1 : 0;
    }
    return rows > 0 && matrix.rows == rows && matrix.columns > 0;
}

} // namespace residua::engine
