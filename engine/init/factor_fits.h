// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/gap.h"
#include "engine/host/preparation.h"
#include "engine/init/feature_fits.h"
#include "engine/init/fit_cache.h"
#include "engine/lowrank/low_rank_problem.h"
#include "projects/base/result.h"
#include "projects/model/training_plan.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace residua::engine {

/// What the fits of a network depend on beside its document.
struct FitSetting {
    FitCache cache = {};
    /// The second moments of what a weight reads, [in, in] in double on the host, by its whole name; one that is not
    /// here reads standard normal inputs.
    std::map<std::string, at::Tensor> inputMoments = {};
    /// What attentions by features read; one that is not here reads standard normal inputs.
    InputsByAttention attentionInputs = {};
    std::int64_t attentionLength = kFitLength; ///< tokens of a sequence where they do
};

/// The fit of one weight's factors (engine/lowrank).
struct FactorFit {
    std::string name;        ///< of the whole weight
    at::Tensor u;            ///< [out, rank]: what is written; holds the draw by the document's law before
    at::Tensor v;            ///< [rank, in, …]: likewise
    at::Tensor whole;        ///< [out, in] in double on the host
    at::Tensor inputMoments; ///< [in, in] in double on the host; undefined: the identity
    std::string follows;     ///< as ParameterStart::follows; what no fit knows counts as the identity
    std::uint64_t seed = 0;
    std::int64_t epochs = projects::kLfaiEpochs; ///< of LFAI and LFAI-WS, at most
};

/// What the solvers take for it: the fit of one weight, which of them may start from its draw.
[[nodiscard]] LowRankProblem problemOf(const FactorFit& fit);
/// What a fit has left, for people.
[[nodiscard]] GapFit gapOf(const LowRankFit& fit);
[[nodiscard]] GapWeight gapWeightOf(const FactorFit& fit);
/// Puts factors in the place of those that the fit is for.
void writeFactors(const FactorFit& fit, const std::vector<double>& left, const std::vector<double>& right);

/// What fitAll() has to tell.
struct FitsReport {
    std::vector<std::string> notes; ///< for the user
    Gap gap;                        ///< what the fits have left, by the one method
};

/// Fits all of them side by side, on as many threads as LibTorch computes with; the bits are the same for any number.
/// What `cache` holds of the same problems is read instead, and what it lacks is kept there (fit_cache.h); no folder:
/// no cache. An error where `watch`, asked all the time, gives it up (the fits end within one of their iterations), or
/// where a fit ends in an error; nothing is written then.
[[nodiscard]] Result<FitsReport> fitAll(const std::vector<FactorFit>& fits, LowRankMethod method, const FitCache& cache,
                                        const PreparationWatch& watch);

} // namespace residua::engine
