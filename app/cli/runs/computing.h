// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "app/cli/runs/time_limit.h"

#include <memory>
#include <string>
#include <vector>

namespace residua::cli {

/// How a command computes, from the options that commands share.
struct Computing {
    int threads = 0;                      ///< of the processor; 0: as many as there are
    std::shared_ptr<TimeLimit> timeLimit; ///< may be null; one for all that the command trains

    /// Reads the options; the time limit counts from now.
    [[nodiscard]] static Computing from(const Arguments& arguments);
};

[[nodiscard]] OptionSpec deviceOption();
[[nodiscard]] OptionSpec threadsOption();
[[nodiscard]] OptionSpec timeLimitOption();

} // namespace residua::cli
