// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/maths/theory/dense_matrix.h"
#include "projects/base/result.h"
#include "projects/model/topology.h"

#include <cstdint>
#include <string_view>
#include <vector>

/// The linear network of ANCRe's Case Study 3.1 in plain double precision, with gradients written out by hand. It
/// shares no computation with the engine that trains, which is measured against it.
namespace residua::tests {

using engine::DenseMatrix;

/// Returns the shortcuts that shortcutsFrom() reads, "all" (every i:j) or "none". Precondition: `text` is one of these
/// for so many layers.
[[nodiscard]] std::vector<projects::Shortcut> studyShortcuts(std::string_view text, std::int64_t layers);

/// How the coefficients c become the weights p of the shortcuts, and whether they learn.
enum class ShortcutWeights {
    Fixed,    ///< p = c, never changed
    Learned,  ///< p = c
    Ingoing,  ///< p_ij = softmax of c_ij/τ over i, for each j (ANCRe eq. 7, 8)
    Outgoing, ///< over j, for each i (eq. 6)
};

/// x_0 = X, x_j = W_j·x_{j−1} + Σ_{i:j} p_ij·x_i, f(X) = x_K.
struct LinearNetwork {
    std::vector<DenseMatrix> weights; ///< W_1 … W_K, [d, d]
    std::vector<projects::Shortcut> shortcuts;
    std::vector<double> coefficients; ///< c, one per shortcut: 1 is the plain residual when Fixed
    ShortcutWeights mode = ShortcutWeights::Fixed;
    double temperature = 0.1; ///< τ
};
/// Errors: no layer, shapes that differ, a coefficient missing, a shortcut that does not fit, τ not above 0.
[[nodiscard]] Status check(const LinearNetwork& network);

/// p of every shortcut. Precondition of this and of all below: check(network) is ok and X, Y are [d, n].
[[nodiscard]] std::vector<double> mixingWeights(const LinearNetwork& network);

[[nodiscard]] DenseMatrix output(const LinearNetwork& network, const DenseMatrix& x);

/// ½‖f(X) − Y‖_F² and its gradient by every weight and coefficient (0 for Fixed ones).
struct LinearGradient {
    double loss = 0;
    std::vector<DenseMatrix> weights;
    std::vector<double> coefficients;
};
[[nodiscard]] LinearGradient gradient(const LinearNetwork& network, const DenseMatrix& x, const DenseMatrix& y);

/// Full-batch gradient descent. Returns the losses before step 1 and after each: steps + 1 numbers. `network` is left
/// as the last step made it. Errors: as check, shapes of X and Y, η not above 0, steps < 0, a loss that is no longer
/// finite.
[[nodiscard]] Result<std::vector<double>> descend(LinearNetwork& network, const DenseMatrix& x, const DenseMatrix& y,
                                                  double learningRate, std::int64_t steps);

} // namespace residua::tests
