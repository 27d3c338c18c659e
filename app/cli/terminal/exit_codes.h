// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>

namespace residua::cli {

/// What the program ends with; exitCodes() says what each one promises.
enum class Exit {
    Ok = 0,
    Usage = 1,
    InvalidProject = 2,
    RunFailed = 3,
    Complete = 4,
    TimeLimit = 5,
    Fault = 70, ///< the number that sysexits.h gives an error of the program itself
    Interrupted = 130,
    Quit = 131,
};

struct ExitCode {
    Exit code{};
    const char* meaning = "";
};

/// Every one, ascending: `residua-cli --help` prints it, and no other is ever returned.
[[nodiscard]] std::span<const ExitCode> exitCodes();

} // namespace residua::cli
