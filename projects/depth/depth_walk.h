// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/depth/unrolled_depth.h"

#include <functional>
#include <span>

/// Computes and solves unrolled depths. Private to them.
namespace residua::projects {

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

/// Returns the program of `modules` joins of a residual with a branch; the modules are layers or halves.
[[nodiscard]] DepthProgram factorProgram(std::size_t modules, Granularity granularity);

/// to += factor·weight·sum, feature by feature. `weight` has one number, or one per feature.
void addTo(BranchSum& to, const BranchSum& sum, std::span<const double> weight, double factor = 1);

} // namespace residua::projects
