// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace residua::engine {

/// Calls `run` with each index below works.size(), on `threads` threads (at least 1). The calling thread is one of
/// them. Starts the largest work first, because a large fit that starts last would keep the other threads waiting.
/// `run` must not throw.
void runOnThreads(std::span<const double> works, int threads, const std::function<void(std::size_t index)>& run);

} // namespace residua::engine
