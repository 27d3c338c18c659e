// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/matrix_name.h"
#include "engine/base/api/values.h"

#include <cstdint>

namespace residua::engine {

/// The rows of matrix::kLayerMagnitudes, for a layer or one half of it.
enum class LayerMagnitude : std::int64_t {
    Stream, ///< the layer's input: the residual stream, or a mix in its place
    Branch, ///< the branch that the layer computes from its input
};
inline constexpr std::int64_t kLayerMagnitudeRows = 2;

/// The rows of matrix::kStability.
enum class StabilityRow : std::int64_t {
    Effect, ///< Ψ_l = ‖F₋ₗ(x) − F(x)‖₂ at the output of the stack (definition 5.2)
    Output, ///< ‖y^(l)‖₂, the norm of the residual after the layer
    Rise,   ///< L(F₋ₗ) − L(F)
};
inline constexpr std::int64_t kStabilityRows = 3;

/// Returns the index of a named row.
template <class Row>
[[nodiscard]] constexpr std::int64_t rowNumber(Row row)
{
    return static_cast<std::int64_t>(row);
}

/// A row of a recorded matrix that is drawn as one curve per column over the steps, instead of as a heatmap.
struct RowCurves {
    const char* matrix;
    std::int64_t row;
    const char* title;
    const char* unit;
    const char* column; ///< what each column is, counted from 1
};
/// The rows of one matrix are adjacent and in order.
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
/// True if the matrix has the name and the number of rows of a matrix in kRowCurves. Another matrix may have only the
/// name.
[[nodiscard]] inline bool hasRowCurves(const Matrix& matrix)
{
    std::int64_t rows = 0;
    for (const RowCurves& row : kRowCurves) {
        rows += matrix.name.text() == row.matrix ? 1 : 0;
    }
    return rows > 0 && matrix.rows == rows && matrix.columns > 0;
}

} // namespace residua::engine
