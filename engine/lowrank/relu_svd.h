// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/lowrank/layer.h"

#include <vector>

namespace residua::engine::lowrank {

/// √h as a function of the correlation: sqrtH, or another in its place.
using CorrelationKernel = double (*)(double rho);

/// How many values of the kernel an enumeration may take before the search goes by exchanges.
inline constexpr double kMostKernelValues = 2e7;

/// Theorem 3.3's Λ: which singular directions to keep.
struct DirectionChoice {
    std::vector<Eigen::Index> directions; ///< ascending
    double objective = 0;                 ///< Σ ‖W_i‖²·h(ρ_i)
    bool enumerated = false; ///< every subset was tried; otherwise exchanges from the largest singular values
};
/// `rows`: U·Σ, [out, min(out, in)], the weight in its own right singular directions, largest first. Errors:
/// stoppedFit().
[[nodiscard]] Result<DirectionChoice> chooseDirections(const Eigen::MatrixXd& rows, Eigen::Index rank,
                                                       CorrelationKernel kernel, const LowRankWatch& watch,
                                                       double mostKernelValues = kMostKernelValues);

/// Theorem 3.3's Y for the chosen directions, as factors in the coordinates of `rows`: each row's projection, of norm
/// ‖W_i‖·√h(ρ_i). (The printed gnorm takes rows of norm 1.) A row whose projection is 0 gets a direction that is
/// uncorrelated with it.
[[nodiscard]] Factors scaledProjection(const Eigen::MatrixXd& rows, const std::vector<Eigen::Index>& directions,
                                       CorrelationKernel kernel);

} // namespace residua::engine::lowrank
