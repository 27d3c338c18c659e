// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/gap.h"
#include "engine/base/machine/preparation.h"
#include "engine/compute/init/feature_fits.h"
#include "engine/compute/init/fit_cache.h"
#include "engine/maths/lowrank/low_rank_problem.h"
#include "projects/base/result.h"
#include "projects/model/training_plan.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace residua::engine {

/// The settings of a network's fits that are not in its document.
struct FitSetting {
    FitCache cache = {};
    /// The second moments of each weight's inputs, [in, in] in double on the host, by the full weight's name. A weight
    /// that is missing reads standard normal inputs.
    std::map<std::string, at::Tensor> inputMoments = {};
    /// The inputs of attentions with features. An attention that is missing reads standard normal inputs.
    InputsByAttention attentionInputs = {};
    std::int64_t attentionLength = kFitLength; ///< the sequence length in tokens for such inputs
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
};

/// Returns the problem for the solvers, including the draw that some of them start from.
[[nodiscard]] LowRankProblem problemOf(const FactorFit& fit);
/// Returns the errors of a fit for the user.
[[nodiscard]] GapFit gapOf(const LowRankFit& fit);
[[nodiscard]] GapWeight gapWeightOf(const FactorFit& fit);
/// Writes the factors into the fit's u and v.
void writeFactors(const FactorFit& fit, const std::vector<double>& left, const std::vector<double>& right);

/// The report of fitAll().
struct FitsReport {
    std::vector<std::string> notes; ///< for the user
    Gap gap;                        ///< the errors of the fits, by the one method
};

/// Runs all fits in parallel, on as many threads as LibTorch uses; the bits are the same for any number. Reads fits of
/// equal problems from `cache` and adds new ones (fit_cache.h); without a folder, does not cache. `watch` is called
/// regularly; if it cancels, the fits end within one iteration. Returns an error if it cancels or a fit fails; then
/// nothing is written.
[[nodiscard]] Result<FitsReport> fitAll(const std::vector<FactorFit>& fits, LowRankMethod method, const FitCache& cache,
                                        const PreparationWatch& watch);

} // namespace residua::engine
