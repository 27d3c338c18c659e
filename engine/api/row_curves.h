// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"

#include <cstdint>
#include <string_view>

namespace residua::engine {

/// The name of the recorded Matrix of how large the layers' values were in the training step: a column per layer (per
/// half where the topology splits layers), the root mean square over features and examples; a row of what the layer
/// reads, the residual stream or the mix that stands for it, and one of the branch that it computes from that. NaN: the
/// layer was left out.
inline constexpr const char* kLayerMagnitudes = "norms";
/// The name of the recorded Matrix of one row with the effective rank of what each layer (or half, as above) reads:
/// (Σσ²)²/Σσ⁴ of the singular values σ of its inputs, a row of features for each example or token. From 1 to the
/// smaller of both counts. NaN: the layer was left out, or all that it reads is 0.
inline constexpr const char* kReadRanks = "ranks";
/// The name of the recorded Matrix of one row with the norm of the loss's gradient by the parameters of each layer,
/// before clipping. NaN: the layer was left out, or has no parameters.
inline constexpr const char* kLayerGradients = "norms of gradients";
/// The name of the recorded Matrix of what the network does without each of its layers (RaPTr, section 5): a column per
/// layer, a row per StabilityRow, over held examples. NaN: the layer is not there yet, or cannot be left out.
inline constexpr const char* kStability = "stability";
enum class StabilityRow : std::int64_t {
    Effect, ///< Ψ_l = ‖F₋ₗ(x) − F(x)‖₂ of what leaves the stack (definition 5.2)
    Output, ///< ‖y^(l)‖₂, what the residual is after the layer
    Rise,   ///< L(F₋ₗ) − L(F)
};
/// A Matrix of one number: L(F) − (1/L)·Σ L(F₋ₗ).
inline constexpr const char* kStabilityGap = "stability gap";
/// A Matrix of one row, a column per degree from 1: Σ(c − ĉ)²/Σc² over the target's terms of that degree (RaPTr,
/// section 3).
inline constexpr const char* kDegreeErrors = "degree errors";

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
    {kLayerMagnitudes, 0, "what layers read", "root mean square", "layer"},
    {kLayerMagnitudes, 1, "branches of layers", "root mean square", "layer"},
    {kReadRanks, 0, "rank of what layers read", "effective rank", "layer"},
    {kLayerGradients, 0, "gradients of layers", "norm", "layer"},
    {kStability, 0, "Ψ: output without a layer", "norm of the difference", "layer"},
    {kStability, 1, "‖y‖: output of layers", "norm", "layer"},
    {kStability, 2, "loss without a layer", "above that of all", "layer"},
    {kStabilityGap, 0, "loss, less its mean without a layer", "", "network"},
    {kDegreeErrors, 0, "error by degree", "share of the coefficients", "degree"},
};

[[nodiscard]] constexpr bool isDrawnAsCurves(std::string_view matrix)
{
    for (const RowCurves& row : kRowCurves) {
        if (matrix == row.matrix) {
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
        rows += matrix.name == row.matrix ? 1 : 0;
    }
    return rows > 0 && matrix.rows == rows && matrix.columns > 0;
}

} // namespace residua::engine
