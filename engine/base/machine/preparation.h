// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <functional>

namespace residua::engine {

/// Receives the fraction of a preparation that is done, 0 to 1, on the thread that runs it; returns false to cancel.
/// May be empty.
using PreparationWatch = std::function<bool(double share)>;

/// The watches of the work before a run's first step.
struct PreparationWatches {
    PreparationWatch data;       ///< reading, tokenising, fingerprinting
    PreparationWatch weights;    ///< their initialisation
    PreparationWatch ranks = {}; ///< waiting for the other processes of the run
};

/// Returns the error for a cancelled preparation of data.
[[nodiscard]] inline Error preparationGivenUp()
{
    return {"data", "its preparation was given up"};
}
/// Returns the error for a query that was given up.
[[nodiscard]] inline Error queryGivenUp()
{
    return {"query", "was given up"};
}
/// Reports `share` to the watch. Returns Done, or preparationGivenUp() if the watch cancels.
[[nodiscard]] inline Status stillWanted(const PreparationWatch& watch, double share)
{
    return !watch || watch(share) ? Status(Done{}) : Status(preparationGivenUp());
}

} // namespace residua::engine
