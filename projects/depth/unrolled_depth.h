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

/// A wiring whose weights do not depend on the input, without its recursion: whatever is stacked and mixed, each layer
/// reads a sum of the stack's input f_0 and of the branches f_i before it, with a weight each, and so does the output.
/// x_j = f_j(x_{j-1}) + Σ p_ij·x_i, say, is x_j = Σ_{i≤j} C_ji·f_i with C_jj = 1 and C_ji = Σ_k p_kj·C_ki. Two wirings
/// with the same sums compute the same function of the same layers.

/// The weights of f_0, f_1, …, each with a number per feature.
using BranchSum = std::vector<double>;

/// Equal up to what the rounding of some hundred sums leaves.
[[nodiscard]] bool same(double a, double b);

/// How finely branches are told apart.
enum class Granularity {
    Layer, ///< f_i is the branch of layer i
    Half,  ///< f_{2i−1} is the attention of layer i and f_{2i} its FFN
};

struct UnrolledDepth {
    Granularity granularity = Granularity::Layer;
    std::int64_t features = 1; ///< 1: each weighs all features alike
    /// What branch i + 1 reads by its ports q, k, v and residual; one port for all is all four.
    std::vector<std::array<BranchSum, 4>> inputs;
    BranchSum output;

    /// Every weight 1: the plain residual network.
    [[nodiscard]] bool isPlain() const;
};

/// Halves where one of the two tells them apart.
[[nodiscard]] Granularity granularityFor(const Wiring& a, const Wiring& b);

/// Unrolls `layers` layers that are wired by `mix` with these weights, one for each of its terms. Precondition: the
/// granularity is Half where projects::splitsLayers(mix).
[[nodiscard]] UnrolledDepth unrolled(const DepthMix& mix, std::int64_t layers, const MixNumbers& applied,
                                     Granularity granularity);
/// The weights with which a wiring starts, applied: [terms].
[[nodiscard]] MixNumbers startingWeights(const DepthMix& mix, std::int64_t layers);

/// Unrolls x_j = branch_j·f_j + residual_j·x_{j−1} (ReZero, LAuReL-RW), a number each per module; `modules` says
/// whether those are layers or halves, which takes the granularity Half.
[[nodiscard]] UnrolledDepth unrolled(const std::vector<double>& branch, const std::vector<double>& residual,
                                     Granularity granularity, Granularity modules = Granularity::Layer);

/// How a module is connected with n residual streams (Hyper-Connections): read [n], carry [in, out], write [n].
struct StreamLayer {
    std::vector<double> read;
    std::vector<double> carry;
    std::vector<double> write;
};
[[nodiscard]] UnrolledDepth unrolled(const std::vector<StreamLayer>& layers, Granularity granularity,
                                     Granularity modules = Granularity::Layer);

/// The weights with which `mix` computes `wanted`: [terms, wanted.features or 1]. Where it does not learn them, they
/// are those with which it starts. An error that says which layer's sum it cannot give, and why.
[[nodiscard]] Result<MixNumbers> weightsFor(const DepthMix& mix, std::int64_t layers, const UnrolledDepth& wanted);
/// The coefficients that apply these weights: under a softmax τ·ln p. An error where no softmax gives them.
[[nodiscard]] Result<MixNumbers> coefficientsFor(const DepthMix& mix, std::int64_t layers, const MixNumbers& applied);

/// x_j = branch_j·f_j + residual_j·x_{j−1}, a number each per layer.
struct ResidualFactors {
    std::vector<double> branch;
    std::vector<double> residual;
};
/// The factors with which such a wiring computes `wanted`, or an error.
[[nodiscard]] Result<ResidualFactors> factorsFor(const UnrolledDepth& wanted, Granularity modules = Granularity::Layer);

} // namespace residua::projects
