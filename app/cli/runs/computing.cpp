// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/runs/computing.h"

namespace residua::cli {
namespace {

constexpr double kMostThreads = 1024;
constexpr const char* kThreads = "threads";
constexpr const char* kTimeLimit = "time-limit";

} // namespace

Computing Computing::from(const Arguments& arguments)
{
    Computing computing;
    computing.threads = static_cast<int>(arguments.integer(kThreads, 0));
    if (const auto limit = arguments.duration(kTimeLimit)) {
        computing.timeLimit = std::make_shared<TimeLimit>(TimeLimit::Clock::now(), *limit);
    }
    return computing;
}

OptionSpec deviceOption()
{
    return {.name = "device",
            .kind = OptionKind::Text,
            .value = "KEY",
            .help = "cpu or cuda:N (residua-cli devices lists them)",
            .choices = {"cpu", "cuda:0"}};
}

OptionSpec threadsOption()
{
    return {kThreads, OptionKind::Integer, "N", "threads of the processor (default: one for each core)", {},
            1,        kMostThreads};
}

OptionSpec timeLimitOption()
{
    return {kTimeLimit, OptionKind::Duration, "TIME",
            "stop, with a checkpoint, before so much time is over: 45s, 90m, 3h55m, 1d2h"};
}

} // namespace residua::cli
