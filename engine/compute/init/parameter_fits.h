// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/gap.h"
#include "engine/base/machine/preparation.h"
#include "engine/compute/init/fit_jobs.h"
#include "engine/compute/init/weight_inputs.h"
#include "projects/base/result.h"
#include "projects/model/training_plan.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace residua::engine {

/// The settings of a network's fits that are not in its document.
struct FitSetting {
    FitCache cache = {};
    FitInputs inputs = {};
};

/// The fit of one weight's factors (engine/maths/lowrank).
struct FactorFit {
    std::string name;        ///< of the full weight
    at::Tensor u;            ///< [out, rank]: the output; on entry the draw by the document's law
    at::Tensor v;            ///< [rank, in, …]: as u
    at::Tensor whole;        ///< [out, in] in double on the host
    at::Tensor inputMoments; ///< [in, in] in double on the host; undefined: the identity
    std::string follows; ///< as ParameterStart::follows; an activation that the fits do not know counts as the identity
    std::uint64_t seed = 0;
    std::int64_t epochs = projects::kLfaiEpochs; ///< the maximum for LFAI and LFAI-WS
    std::int64_t kernel = 1;                     ///< as LowRankProblem::kernel
};
[[nodiscard]] GapWeight gapWeightOf(const FactorFit& fit);
[[nodiscard]] NamedFit fitBy(LowRankMethod method, const FactorFit& fit);

/// An attention with features, as declared.
struct AttentionFeatures {
    struct Heads {
        at::Tensor queries; ///< [sequences, heads, length, e]
        at::Tensor keys;    ///< [sequences, kvHeads, length, e]
    };
    std::string node;          ///< "layers.1.attention."
    std::size_t parameter = 0; ///< ω [kvHeads, r, e], an index into the plan's parameters
    std::int64_t width = 0;    ///< of its inputs
    bool causal = true;
    bool fitted = true; ///< false: the features start as drawn
    /// Returns the queries and keys by the current weights, after norm and rotation.
    std::function<Heads(const AttentionInputs& inputs)> headsOf;
};

/// The fit of an attention's features.
struct FeatureFit {
    std::string name;                       ///< of the parameter
    at::Tensor features;                    ///< [kvHeads, r, e]: the output
    std::vector<AttentionProblem> problems; ///< one for each key-value head
};
/// Returns the fit from the current features. Without inputs for the node, queries and keys read the same standard
/// normal numbers, drawn from `seed` and the node's name.
[[nodiscard]] FeatureFit featureFit(const AttentionFeatures& of, const std::string& name, const at::Tensor& features,
                                    const FitInputs& inputs, std::int64_t seed);
/// Returns one fit for each problem by `job`, which is fitJob or measureJob.
[[nodiscard]] std::vector<NamedFit> fitsOf(FeatureFit fit, FitJob (*job)(AttentionProblem));

/// Writes the matrices of a result, one to each tensor.
void writeMatrices(const Fitted& fit, const std::vector<at::Tensor>& tensors);

/// The report of fitAll().
struct FitsReport {
    std::vector<std::string> notes; ///< for the user
    Gap gap;                        ///< the errors of factored weights, by the one method
};

/// Runs all fits in parallel (runFits) and writes their results. Reads fits of equal problems from `cache` and adds new
/// ones; without a folder, does not cache. Returns an error if `watch` cancels or a fit fails; then nothing is written.
[[nodiscard]] Result<FitsReport> fitAll(const std::vector<FactorFit>& fits, LowRankMethod method, const FitCache& cache,
                                        const PreparationWatch& watch);
/// Returns the notes.
[[nodiscard]] Result<std::vector<std::string>> fitAll(std::vector<FeatureFit> fits, const FitCache& cache,
                                                      const PreparationWatch& watch);

} // namespace residua::engine
