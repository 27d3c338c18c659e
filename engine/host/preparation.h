// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <functional>

namespace residua::engine {

/// Told now and then what share of a preparation is done, 0 to 1, on the thread that does it; false gives it up. Empty:
/// nobody watches.
using PreparationWatch = std::function<bool(double share)>;

/// The watches over what comes before a run's first step.
struct PreparationWatches {
    PreparationWatch data;    ///< reading, tokenising, fingerprinting
    PreparationWatch weights; ///< their initialisation
};

/// The error of a preparation of data that was given up.
[[nodiscard]] inline Error preparationGivenUp()
{
    return {"data", "its preparation was given up"};
}
/// Tells the watch, and returns Done, or preparationGivenUp() where the watch gives it up.
[[nodiscard]] inline Status stillWanted(const PreparationWatch& watch, double share)
{
    return !watch || watch(share) ? Status(Done{}) : Status(preparationGivenUp());
}

} // namespace residua::engine
