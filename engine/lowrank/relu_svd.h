// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/lowrank/layer.h"

#include <vector>

namespace residua::engine::lowrank {

/// √h as a function of the correlation: sqrtH, or a replacement for it.
using CorrelationKernel = double (*)(double rho);

/// The maximum number of kernel values in an enumeration; beyond it, the search uses exchanges.
inline constexpr double kMostKernelValues = 2e7;

/// Λ of theorem 3.3: the singular directions to keep.
struct DirectionChoice {
    std::vector<Eigen::Index> directions; ///< ascending
    double objective = 0;                 ///< Σ ‖W_i‖²·h(ρ_i)
    bool enumerated = false; ///< true if every subset was tried; false for exchanges from the largest singular values
};
/// Chooses directions. `rows` is U·Σ, [out, min(out, in)]: the weight in its own right singular directions, largest
/// first. Errors: stoppedFit().
[[nodiscard]] Result<DirectionChoice> chooseDirections(const Eigen::MatrixXd& rows, Eigen::Index rank,
                                                       CorrelationKernel kernel, const LowRankWatch& watch,
                                                       double mostKernelValues = kMostKernelValues);

/// Returns Y of theorem 3.3 for the chosen directions, as factors in the coordinates of `rows`: the projection of each
/// row, scaled to the norm ‖W_i‖·√h(ρ_i). (The printed gnorm assumes rows of norm 1.) A row whose projection is 0 gets
/// a direction that is uncorrelated with it.
[[nodiscard]] Factors scaledProjection(const Eigen::MatrixXd& rows, const std::vector<Eigen::Index>& directions,
                                       CorrelationKernel kernel);

} // namespace residua::engine::lowrank
