// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/lowrank/layer.h"

#include <string>
#include <vector>

namespace residua::engine::lowrank {

/// What a search gives: the factors in the layer's own coordinates.
struct Searched {
    Factors factors;
    bool converged = true;
    std::string note;
};

/// A point that a search begins from.
struct NamedStart {
    std::string name;
    Factors factors; ///< right: [rank, directions], in the weight's right singular directions
};

/// R(Y) over the factors, with its gradient: L-BFGS on the expectation itself from each start, the lowest kept. A
/// search that falls too slowly to get below another's end is given up. `rows` is U·Σ, [out, directions]: the weight in
/// its own right singular directions, where it is small. Errors: stoppedFit().
class ExactFit {
public:
    ExactFit(const Eigen::MatrixXd& rows, Nonlinearity follows);

    /// R and its gradient by left [out, rank] and right [rank, directions], one after the other, column-major.
    [[nodiscard]] double operator()(const Eigen::VectorXd& at, Eigen::VectorXd& gradient, Eigen::Index rank) const;

    /// The factors in the coordinates of `rows`.
    [[nodiscard]] Result<Searched> search(const std::vector<NamedStart>& starts, const LowRankWatch& watch) const;

private:
    const Eigen::MatrixXd& m_rows;
    GaussianError m_error;
    double m_fullFunction = 0;
};

/// Seeded: a random subspace and the weight's projection on it.
[[nodiscard]] Factors randomStart(const Eigen::MatrixXd& rows, Eigen::Index rank, std::uint64_t seed);

} // namespace residua::engine::lowrank
