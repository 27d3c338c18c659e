// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/maths/theory/case_bounds.h"
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
/// Returns an error, with what was expected, for data other than low-rank regression, d above 512, a stem or a head
/// that computes something, or a layer other than one low-rank linear map without a bias.
[[nodiscard]] Result<LowRankTask> lowRankTask(const projects::Project& project);

/// The relation of a bound to the training loss.
enum class BoundKind {
    Below,     ///< the loss is at or above it at every step
    Above,     ///< the loss is at or below it at every step
    Reachable, ///< some network of this topology has an expected loss at or below it, but training may not find it
};

/// A theorem's bound on the loss of a project, in the units of the recorded loss.
struct ProjectBound {
    std::string name;   ///< "Theorem 3.3 (ANCRe)"
    std::string claim;  ///< one line for the user
    std::string caveat; ///< the gap between the theorem and a run, one sentence; empty if there is no gap
    BoundKind kind{};
    std::vector<theory::Premise> premises;
    std::vector<double> losses; ///< one per requested step

    /// True if every premise is met.
    [[nodiscard]] bool applies() const;
};

/// Returns the theorems that apply to this project, with bounds at `steps` as a run records them (1-based; the loss at
/// step s is that after s − 1 updates). Empty for most projects. The theorems are:
/// - ANCRe §3 and B.4: a linear network that starts from c·I, trained by plain full-batch gradient descent with a
///   constant rate on whitened inputs, with one fixed shortcut 0:1 (Theorem 3.2) or 0:K−1 (Theorem 3.3). Recorded
///   losses are means over the n samples, so the paper's loss and time are n·loss and step·rate/n.
/// - DeepCrossAttention §4, Theorem 4.2: low-rank linear layers under the plain residual or the preset of a GRN. The
///   recorded loss is a mean over the features and includes the noise.
/// Pure. The second computes the eigenvalues of a [dim, dim] matrix.
[[nodiscard]] std::vector<ProjectBound> boundsOf(const projects::Project& project, std::span<const std::int64_t> steps);

} // namespace residua::engine
