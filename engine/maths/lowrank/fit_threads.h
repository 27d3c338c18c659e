// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <cstddef>
#include <exception>
#include <functional>
#include <span>
#include <string>

namespace residua::engine {

/// Calls `run` with each index below works.size(), on `threads` threads (at least 1). The calling thread is one of
/// them. Starts the largest work first, because a large fit that starts last would keep the other threads waiting.
/// Uses the threads that can be created. `run` must not throw (guardedFit).
void runOnThreads(std::span<const double> works, int threads, const std::function<void(std::size_t index)>& run);

/// Returns the Result of fit(), or an error if it throws: an exception, as for too little memory, would end the program
/// from a thread.
template <class Fit>
[[nodiscard]] auto guardedFit(const Fit& fit) -> decltype(fit())
{
    try {
        return fit();
    } catch (const std::exception& failure) {
        return Error{"", std::string("the fit failed: ") + failure.what()};
    }
}

} // namespace residua::engine
