// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/maths/lowrank/layer.h"

#include <Eigen/Core>

#include <functional>
#include <string>
#include <vector>

namespace residua::engine::lowrank {

/// The result of a search: the factors in the layer's own coordinates.
struct Searched {
    Factors factors;
    bool converged = true;
    std::string note;
};

/// A starting point of a search.
struct NamedStart {
    std::string name;
    Factors factors; ///< right: [rank, directions], in the weight's right singular directions
};

/// R(Y) as a function of the factors, with its gradient. Minimises the expectation itself by L-BFGS from each start and
/// keeps the lowest result. A search that decreases too slowly to get below another's result is abandoned. `rows` is
/// U·Σ, [out, directions]: the weight in its own right singular directions, where it is small. Errors: stoppedFit().
class ExactFit {
public:
    ExactFit(const Eigen::MatrixXd& rows, Nonlinearity follows);

    /// Returns R and its gradient by left [out, rank] and right [rank, directions], concatenated, both column-major.
    [[nodiscard]] double operator()(const Eigen::VectorXd& at, Eigen::VectorXd& gradient, Eigen::Index rank) const;

    /// Returns the factors in the coordinates of `rows`.
    [[nodiscard]] Result<Searched> search(const std::vector<NamedStart>& starts, const LowRankWatch& watch) const;

private:
    const Eigen::MatrixXd& m_rows;
    GaussianError m_error;
    double m_fullFunction = 0;
};

/// Returns a random subspace, drawn from `seed`, and the weight's projection on it.
[[nodiscard]] Factors randomStart(const Eigen::MatrixXd& rows, Eigen::Index rank, std::uint64_t seed);

struct LbfgsOptions {
    int iterations = 500;
    int memory = 10; ///< the number of pairs of steps and gradient changes that approximate the curvature
    /// Converged if the value decreased by less than this fraction over `patience` iterations.
    double tolerance = 1e-8;
    int patience = 10;
    double enough = 0; ///< stops at this value
};

struct LbfgsResult {
    Eigen::VectorXd at;
    double value = 0;
    int iterations = 0;
    bool converged = false;
    bool stopped = false; ///< by `goOn`
};

/// Returns the value at a point and writes its gradient.
using LbfgsObjective = std::function<double(const Eigen::VectorXd& at, Eigen::VectorXd& gradient)>;
/// Called after each iteration; returns false to stop.
using LbfgsGoOn = std::function<bool(int iteration, double value)>;

/// Minimises by limited-memory BFGS. The line search uses bisection for the weak Wolfe conditions and tolerates kinks.
/// The result is never above the start.
[[nodiscard]] LbfgsResult minimise(const LbfgsObjective& objective, Eigen::VectorXd start, const LbfgsOptions& options,
                                   const LbfgsGoOn& goOn);

} // namespace residua::engine::lowrank
