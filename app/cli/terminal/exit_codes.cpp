// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/terminal/console.h"

namespace residua::cli {

std::span<const ExitCode> exitCodes()
{
    static constexpr ExitCode kCodes[] = {
        {Exit::Ok, "done"},
        {Exit::Usage, "the command line is wrong, or a file or the output cannot be written"},
        {Exit::InvalidProject, "the project cannot be read, or is invalid"},
        {Exit::RunFailed, "a run, or a question to a run, failed"},
        {Exit::Complete, "resume or train --resume-or-start found the run complete: nothing was left to do"},
        {Exit::TimeLimit, "stopped by --time-limit, after a checkpoint: the run can be resumed"},
        {Exit::Fault, "a fault of residua-cli itself"},
        {Exit::Interrupted, "stopped by a signal, or by the command stop, after a checkpoint: the run can be resumed"},
        {Exit::Quit, "stopped by a signal at once, without a checkpoint"},
    };
    return kCodes;
}

} // namespace residua::cli
