// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/measure_queries.h"

#include <string>
#include <vector>

namespace residua::engine {

/// The curve L(T) = L∞ + Z·e^(−z·T/R) of least squares through the losses after T visits of a loop, where R is the
/// number of an evaluation.
struct VisitFit {
    double visits = 1; ///< R
    double least = 0;  ///< L∞
    double height = 0; ///< Z
    double rate = 0;   ///< z
    double error = 0;  ///< the root mean square of the differences
    /// Returns the curve and its error in one line.
    [[nodiscard]] std::string text() const;
};

/// Returns the fit of each loop with at least four measured numbers of visits, from a complete result of a knock-out by
/// visits. Leaves out loops whose losses are all equal or not finite.
[[nodiscard]] std::vector<VisitFit> visitFitsOf(const KnockoutReady& measured);

/// Returns one line for each value of each curve, below the names of the columns. Undefined values are empty.
[[nodiscard]] std::string visitsCsv(const std::vector<VisitCurve>& curves);

} // namespace residua::engine
