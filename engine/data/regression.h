// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/dataset.h"
#include "engine/theory/dense_matrix.h"
#include "projects/model/data_source.h"

namespace residua::engine {

/// A ScaledRotation is this times a rotation (determinant +1).
inline constexpr double kRotationScale = 2.0;

/// The true map [dim, dim]: the identity; independent N(0, 1/dim) or N(0, 1) entries; a scaled rotation;
/// or diagonal from 1 down to 0 in equal steps.
[[nodiscard]] DenseMatrix linearTarget(projects::LinearTarget target, std::int64_t dim, std::int64_t seed);

/// What a data set of each source holds, told without drawing a sample.
[[nodiscard]] DataOutline outlineOf(const projects::LinearRegression& source, const projects::DataSource& data);
[[nodiscard]] DataOutline outlineOf(const projects::LowRankRegression& source, const projects::DataSource& data);

/// Y = T X (ANCRe §3). The samples are the columns of X, which is whitened as the paper's theory asks: X Xᵀ = I where
/// samples ≥ dim (orthogonal where they are equal), XᵀX = I where there are fewer. Held-out samples beside them are
/// N(0, 1/max(dim, samples)) in each feature.
[[nodiscard]] std::unique_ptr<Dataset> makeLinearRegression(const projects::LinearRegression& source,
                                                            const projects::DataSource& data, std::int64_t seed);

/// y = A x + b + noise (DeepCrossAttention §4, figure 1): x ~ N(0, I), A = T P with T as in linearTarget and P the
/// orthogonal projection on a random subspace of `rank` dimensions (P = I at rank = dim); noise·N(0, 1) on every
/// output.
[[nodiscard]] std::unique_ptr<Dataset> makeLowRankRegression(const projects::LowRankRegression& source,
                                                             const projects::DataSource& data, std::int64_t seed);
/// The b [dim] of lowRankRegression: zero without an offset.
[[nodiscard]] std::vector<double> lowRankOffset(const projects::LowRankRegression& source, std::int64_t seed);
/// The A [dim, dim] of lowRankRegression.
[[nodiscard]] DenseMatrix lowRankTarget(const projects::LowRankRegression& source, std::int64_t seed);

} // namespace residua::engine
