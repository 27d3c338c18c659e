// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The only theory here about features of images.

#include "engine/maths/theory/dense_matrix.h"

#include <cstdint>

namespace residua::engine {

/// Returns ‖m_a − m_b‖² + tr(Σ_a + Σ_b − 2 (Σ_a Σ_b)^½) of the means and covariances of two sets of features, a row for
/// each example: the squared Fréchet distance of their normal distributions (Heusel et al., 2017). The covariances
/// divide by rows − 1. The square root is by the eigenvalues of Σ_a^½ Σ_b Σ_a^½. Both have at least two rows and
/// equally many columns.
[[nodiscard]] double frechetDistance(const DenseMatrix& a, const DenseMatrix& b);

/// The shares of examples of one set that are within the other (Kynkäänniemi et al., 2019): nearer to one of its
/// examples than that is to its k-th nearest neighbour in its own set.
struct PrecisionRecall {
    double precision = 0; ///< of made examples within the real ones
    double recall = 0;    ///< of real examples within the made ones
};
/// Computes both with k = `neighbours`, below the number of rows of each set. Takes time and memory of real rows × made
/// rows.
[[nodiscard]] PrecisionRecall precisionAndRecall(const DenseMatrix& real, const DenseMatrix& made,
                                                 std::int64_t neighbours = 3);

} // namespace residua::engine
