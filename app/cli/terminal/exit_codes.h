// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>

namespace residua::cli {

/// The exit codes of the program. exitCodes() describes each one.
enum class Exit {
    Ok = 0,
    Usage = 1,
    InvalidProject = 2,
    RunFailed = 3,
    Complete = 4,
    TimeLimit = 5,
    Fault = 70, ///< the number of an internal software error in sysexits.h
    Interrupted = 130,
    Quit = 131,
};

struct ExitCode {
    Exit code{};
    const char* meaning = "";
};

/// Returns every exit code, ascending. `residua-cli --help` prints them. No other code is returned.
[[nodiscard]] std::span<const ExitCode> exitCodes();

} // namespace residua::cli
