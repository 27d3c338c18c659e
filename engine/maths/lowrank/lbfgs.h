// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <Eigen/Core>

#include <functional>

namespace residua::engine::lowrank {

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
