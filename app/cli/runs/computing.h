// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "app/cli/runs/time_limit.h"

#include <memory>
#include <string>
#include <vector>

namespace residua::cli {

/// The computing options that commands share.
struct Computing {
    int threads = 0;                      ///< of the processor; 0: all
    std::shared_ptr<TimeLimit> timeLimit; ///< may be null; shared by everything that the command trains

    /// Reads the options. The time limit starts now.
    [[nodiscard]] static Computing from(const Arguments& arguments);
};

[[nodiscard]] OptionSpec deviceOption();
[[nodiscard]] OptionSpec threadsOption();
[[nodiscard]] OptionSpec timeLimitOption();

} // namespace residua::cli
