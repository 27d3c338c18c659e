// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <Eigen/Core>

#include <functional>

namespace residua::engine::lowrank {

struct LbfgsOptions {
    int iterations = 500;
    int memory = 10; ///< pairs of steps and gradients that stand for the curvature
    /// Converged: over `patience` iterations the value fell by less than this share of itself.
    double tolerance = 1e-8;
    int patience = 10;
    double enough = 0; ///< a value at which nothing is left to gain
};

struct LbfgsResult {
    Eigen::VectorXd at;
    double value = 0;
    int iterations = 0;
    bool converged = false;
    bool stopped = false; ///< by `goOn`
};

/// The value at a point; writes the gradient.
using LbfgsObjective = std::function<double(const Eigen::VectorXd& at, Eigen::VectorXd& gradient)>;
/// Asked after each iteration.
using LbfgsGoOn = std::function<bool(int iteration, double value)>;

/// Limited-memory BFGS with a line search to the weak Wolfe conditions by bisection, which does not mind a kink. The
/// result is never above the start.
[[nodiscard]] LbfgsResult minimise(const LbfgsObjective& objective, Eigen::VectorXd start, const LbfgsOptions& options,
                                   const LbfgsGoOn& goOn);

} // namespace residua::engine::lowrank
