// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/theory/dense_matrix.h"
#include "projects/base/random.h"

namespace residua::engine {

/// Returns independent numbers from N(0, deviation²), drawn in the matrix's storage order.
template <class Matrix = DenseMatrix>
[[nodiscard]] Matrix gaussianMatrix(Eigen::Index rows, Eigen::Index columns, RandomStream& random, double deviation = 1)
{
    return Matrix::NullaryExpr(rows, columns, [&] { return deviation * random.gaussian(); });
}

} // namespace residua::engine
