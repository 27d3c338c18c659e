// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/lowrank/exact_fit.h"

namespace residua::engine::lowrank {

/// Runs algorithms 1 and 2: Adam on (1/B)·Σ_k ‖σ(left·right·x_k) − σ(weight·x_k)‖² over new Gaussian samples, from
/// `start`. After each epoch the expectation is measured without samples; the search ends early if it no longer
/// changes. Not converged if the error still changed in the last epoch or is no better than with factors of zeros.
/// Errors: stoppedFit().
[[nodiscard]] Result<Searched> fitBySamples(const Layer& layer, const FactorError& error, Factors start,
                                            const LfaiCourse& course, const LowRankWatch& watch);

} // namespace residua::engine::lowrank
