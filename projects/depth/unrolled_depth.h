// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/depth/depth_names.h"
#include "projects/depth/depth_plan.h"
#include "projects/depth/depth_program.h"
#include "projects/model/topology.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
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
    Layer,  ///< f_i is the branch of layer i
    Half,   ///< f_{2i−1} is the attention of layer i and f_{2i} its FFN
    Module, ///< f_i is the branch of module i, and f_0 the input of the first module
};

struct UnrolledDepth {
    Granularity granularity = Granularity::Layer;
    std::int64_t features = 1; ///< 1 if one weight applies to all features
    /// The inputs of branch i + 1 at its ports q, k, v and residual. A single port gives all four.
    std::vector<std::array<BranchSum, 4>> inputs;
    BranchSum output;
};

/// Returns Half if one of the wirings has separate halves.
[[nodiscard]] Granularity granularityFor(const Wiring& a, const Wiring& b);

/// Unrolls a program. `weights` has a term for each input of each output of its mixes and joins, in the order of the
/// steps: the inputs of output 0, of output 1, …. Precondition: every Join is such a sum, and the granularity is not
/// Layer if the program's modules are halves.
[[nodiscard]] UnrolledDepth unrolled(const DepthProgram& program, const MixNumbers& weights, Granularity granularity);

/// Unrolls `layers` layers wired by `mix` with the weights `applied`, one per term of its DepthPlan.
[[nodiscard]] UnrolledDepth unrolled(const DepthMix& mix, std::int64_t layers, const MixNumbers& applied,
                                     Granularity granularity);
/// Returns the initial weights of a wiring, as applied: [terms].
[[nodiscard]] MixNumbers startingWeights(const DepthMix& mix, std::int64_t layers);

/// Returns the weights with which `mix` computes `wanted`: [terms, wanted.features or 1]. Weights that it does not
/// learn must be the initial ones. The error names the layer whose sum the mix cannot give, and the reason.
[[nodiscard]] Result<MixNumbers> weightsFor(const DepthMix& mix, const ExecutedLayers& layers,
                                            const UnrolledDepth& wanted);
/// Returns the coefficients that apply these weights; under a softmax, τ·ln p. Returns an error if no softmax gives
/// them.
[[nodiscard]] Result<MixNumbers> coefficientsFor(const DepthMix& mix, const ExecutedLayers& layers,
                                                 const MixNumbers& applied);

/// Returns the program of x_j = r_j·x_{j−1} + b_j·f_j (ReZero, LAuReL-RW) over modules that are layers or halves. Its
/// weights are r_1, b_1, r_2, ….
[[nodiscard]] DepthProgram factorProgram(std::size_t modules, Granularity granularity);
/// Returns the weights with which such a program computes `wanted`, or an error.
[[nodiscard]] Result<MixNumbers> factorsFor(const ExecutedLayers& layers, const UnrolledDepth& wanted,
                                            Granularity modules = Granularity::Layer);

/// Computes and solves unrolled depths. Private to them.

/// One sum over the inputs of a Mix or Join to be computed.
struct MixSite {
    std::size_t firstTerm = 0;      ///< index of its first weight; the others follow
    std::vector<BranchSum> entries; ///< the step's inputs
    BranchSum wanted;               ///< the wanted sum without the base; empty if not given
};

/// Computes the sum of a site. An error ends the walk.
using Mixer = std::function<Result<BranchSum>(const MixSite& site)>;

/// Runs a program with sums in place of tensors. `wanted` is null or the unrolled depth that the mixes are to give.
[[nodiscard]] Result<UnrolledDepth> walk(const DepthProgram& program, std::int64_t features, Granularity granularity,
                                         const UnrolledDepth* wanted, const Mixer& mixer);

/// to += factor·weight·sum, feature by feature. `weight` has one number, or one per feature.
void addTo(BranchSum& to, const BranchSum& sum, std::span<const double> weight, double factor = 1);

} // namespace residua::projects
