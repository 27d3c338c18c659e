// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/terminal/console.h"

#include <cstddef>
#include <string>
#include <vector>

namespace residua::cli {

/// Processes of this program that share one machine.
struct Jobs {
    std::size_t count = 1;
    std::size_t threads = 0; ///< of each; 0: the processors shared evenly, or what OMP_NUM_THREADS says
    enum class Output { Shown, Dropped } output = Output::Shown;
};

/// Runs this program `jobs.count` times with `words`, and waits for all. SIGINT, SIGTERM, SIGHUP and SIGUSR1 are passed
/// on to each; a process whose parent dies is told to end as by SIGTERM. What they print appears as they print it.
/// Interrupted where one was, else RunFailed where one failed or crashed, else Ok.
[[nodiscard]] Exit runJobs(const std::vector<std::string>& words, const Jobs& jobs, const Console& console);

} // namespace residua::cli
