// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/sets/dataset.h"
#include "engine/maths/theory/dense_matrix.h"
#include "projects/model/data_source.h"

namespace residua::engine {

/// The factor of a ScaledRotation, whose rotation has determinant +1.
inline constexpr double kRotationScale = 2.0;

/// Returns the true map [dim, dim]: the identity; independent N(0, 1/dim) or N(0, 1) entries; a scaled rotation; or a
/// diagonal from 1 down to 0 in equal steps.
[[nodiscard]] DenseMatrix linearTarget(projects::LinearTarget target, std::int64_t dim, std::int64_t seed);

/// Return the outline of each source's data set, computed without drawing samples.
[[nodiscard]] DataOutline outlineOf(const projects::LinearRegression& source, const projects::DataSource& data);
[[nodiscard]] DataOutline outlineOf(const projects::LowRankRegression& source, const projects::DataSource& data);

/// Y = T X (ANCRe §3). The samples are the columns of X, which is whitened as the paper assumes: X Xᵀ = I if samples ≥
/// dim (orthogonal if they are equal), XᵀX = I otherwise. The features of additional held-out samples are N(0,
/// 1/max(dim, samples)).
[[nodiscard]] std::unique_ptr<Dataset> makeLinearRegression(const projects::LinearRegression& source,
                                                            const projects::DataSource& data, std::int64_t seed);

/// y = A x + b + noise (DeepCrossAttention §4, figure 1): x ~ N(0, I), A = T P with T from linearTarget and P the
/// orthogonal projection onto a random subspace of `rank` dimensions (P = I at rank = dim). Every output has noise·N(0,
/// 1) added.
[[nodiscard]] std::unique_ptr<Dataset> makeLowRankRegression(const projects::LowRankRegression& source,
                                                             const projects::DataSource& data, std::int64_t seed);
/// Returns b [dim] of makeLowRankRegression; zeros without an offset.
[[nodiscard]] std::vector<double> lowRankOffset(const projects::LowRankRegression& source, std::int64_t seed);
/// Returns A [dim, dim] of makeLowRankRegression.
[[nodiscard]] DenseMatrix lowRankTarget(const projects::LowRankRegression& source, std::int64_t seed);

} // namespace residua::engine
