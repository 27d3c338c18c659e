// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/terminal/console.h"

#include <cstddef>
#include <string>
#include <vector>

namespace residua::cli {

/// The settings for several processes of this program on one machine.
struct Jobs {
    std::size_t threads = 0; ///< per process; 0: the processors shared evenly, or the value of OMP_NUM_THREADS
    enum class Output { Shown, Dropped } output = Output::Shown;
};

/// Runs this program once with each of these lists of words at the same time, and waits for all processes. Forwards
/// SIGINT, SIGTERM, SIGHUP and SIGUSR1 to each of them; a process whose parent dies gets SIGTERM. Their output appears
/// as they print it. Returns Interrupted if one was interrupted, else RunFailed if one failed or crashed, else Ok.
[[nodiscard]] Exit runJobs(std::vector<std::vector<std::string>> words, const Jobs& jobs, const Console& console);

} // namespace residua::cli
