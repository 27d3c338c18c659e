// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/depth/depth_plan.h"
#include "projects/model/topology.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace residua::projects {

/// A wiring with weights that do not depend on the input, written without recursion: each layer and the output read a
/// weighted sum of the stack's input f_0 and the branches f_i before them. For example, x_j = f_j(x_{j-1}) + Σ p_ij·x_i
/// is x_j = Σ_{i≤j} C_ji·f_i with C_jj = 1 and C_ji = Σ_k p_kj·C_ki. Two wirings with the same sums compute the same
/// function of the same layers.

/// The weights of f_0, f_1, …, with one number per feature.
using BranchSum = std::vector<double>;

/// True if equal up to the rounding error of some hundred sums.
[[nodiscard]] bool same(double a, double b);

/// The granularity of branches.
enum class Granularity {
    Layer, ///< f_i is the branch of layer i
    Half,  ///< f_{2i−1} is the attention of layer i and f_{2i} its FFN
};

struct UnrolledDepth {
    Granularity granularity = Granularity::Layer;
    std::int64_t features = 1; ///< 1 if one weight applies to all features
    /// The inputs of branch i + 1 at its ports q, k, v and residual. A single port gives all four.
    std::vector<std::array<BranchSum, 4>> inputs;
    BranchSum output;

    /// True if every weight is 1, which is the plain residual network.
    [[nodiscard]] bool isPlain() const;
};

/// Returns Half if one of the wirings has separate halves.
[[nodiscard]] Granularity granularityFor(const Wiring& a, const Wiring& b);

/// Unrolls `layers` layers wired by `mix` with the weights `applied`, one per term. Precondition: the granularity is
/// Half if projects::splitsLayers(mix).
[[nodiscard]] UnrolledDepth unrolled(const DepthMix& mix, std::int64_t layers, const MixNumbers& applied,
                                     Granularity granularity);
/// Returns the initial weights of a wiring, as applied: [terms].
[[nodiscard]] MixNumbers startingWeights(const DepthMix& mix, std::int64_t layers);

/// Unrolls x_j = branch_j·f_j + residual_j·x_{j−1} (ReZero, LAuReL-RW), with one number each per module. `modules`
/// tells whether modules are layers or halves; halves need granularity Half.
[[nodiscard]] UnrolledDepth unrolled(const std::vector<double>& branch, const std::vector<double>& residual,
                                     Granularity granularity, Granularity modules = Granularity::Layer);

/// The connections of a module with n residual streams (Hyper-Connections): read [n], carry [in, out], write [n].
struct StreamLayer {
    std::vector<double> read;
    std::vector<double> carry;
    std::vector<double> write;
};
[[nodiscard]] UnrolledDepth unrolled(const std::vector<StreamLayer>& layers, Granularity granularity,
                                     Granularity modules = Granularity::Layer, double exit = 1);

/// Returns the weights with which `mix` computes `wanted`: [terms, wanted.features or 1]. Weights that it does not
/// learn must be the initial ones. The error names the layer whose sum the mix cannot give, and the reason.
[[nodiscard]] Result<MixNumbers> weightsFor(const DepthMix& mix, std::int64_t layers, const UnrolledDepth& wanted);
/// Returns the coefficients that apply these weights; under a softmax, τ·ln p. Returns an error if no softmax gives
/// them.
[[nodiscard]] Result<MixNumbers> coefficientsFor(const DepthMix& mix, std::int64_t layers, const MixNumbers& applied);

/// The factors of x_j = branch_j·f_j + residual_j·x_{j−1}, one number each per layer.
struct ResidualFactors {
    std::vector<double> branch;
    std::vector<double> residual;
};
/// Returns the factors with which such a wiring computes `wanted`, or an error.
[[nodiscard]] Result<ResidualFactors> factorsFor(const UnrolledDepth& wanted, Granularity modules = Granularity::Layer);

} // namespace residua::projects
