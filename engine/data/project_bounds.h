// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/theory/case_bounds.h"
#include "projects/model/project.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace residua::engine {

/// A project as the low-rank linear model of DeepCrossAttention §4.
struct LowRankTask {
    DenseMatrix target;              ///< A [d, d]
    std::int64_t layers = 0;         ///< T
    std::int64_t collectiveRank = 0; ///< r*, the sum of the layers' ranks
    std::int64_t smallestRank = 0;
};
/// Errors, with what was expected: data other than low-rank regression, d above 512, a stem or a head that computes
/// something, a layer other than one low-rank linear map without a bias.
[[nodiscard]] Result<LowRankTask> lowRankTask(const projects::Project& project);

/// What a bound says of a training loss.
enum class BoundKind {
    Below,     ///< the loss is at or above it at every step
    Above,     ///< the loss is at or below it at every step
    Reachable, ///< some network of this topology has an expected loss at or below it; training need not find it
};

/// A theorem's bound on the loss of a project, in the units of the recorded loss.
struct ProjectBound {
    std::string name;   ///< "Theorem 3.3 (ANCRe)"
    std::string claim;  ///< one line for people
    std::string caveat; ///< what it leaves open between the theorem and a run, one sentence; empty: nothing
    BoundKind kind{};
    std::vector<theory::Premise> premises;
    std::vector<double> losses; ///< one per asked step

    /// Every premise is met: the bound says something.
    [[nodiscard]] bool applies() const;
};

/// The theorems that speak of this project, at `steps` as a run records them (1-based; the loss at step s is that of
/// s − 1 updates). Empty for most projects. What is looked for:
/// - ANCRe §3 and B.4: a linear network from a start c·I, plain full-batch gradient descent with a constant rate on
///   whitened inputs, one fixed shortcut, 0:1 (Theorem 3.2) or 0:K−1 (Theorem 3.3). Recorded losses are means over the
///   n samples, so the paper's loss and time are n·loss and step·rate/n.
/// - DeepCrossAttention §4, Theorem 4.2: low-rank linear layers under the plain residual or a GRN as its preset has it.
///   The recorded loss is a mean over the features and keeps the noise.
/// Pure; eigenvalues of a [dim, dim] matrix for the latter.
[[nodiscard]] std::vector<ProjectBound> boundsOf(const projects::Project& project, std::span<const std::int64_t> steps);

} // namespace residua::engine
