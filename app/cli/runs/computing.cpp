// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/runs/engine_client.h"

#include "engine/results/engine_places.h"

#include <utility>

namespace residua::cli {
namespace {

constexpr double kMostThreads = 1024;
constexpr const char* kThreads = "threads";
constexpr const char* kTimeLimit = "time-limit";
constexpr const char* kPlace = "place";
constexpr const char* kFolder = "folder";
constexpr const char* kDetach = "detach";

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

Status readPlace(Computing& computing, const Arguments& arguments)
{
    Result<engine::EnginePlace> place = engine::placeCalled(arguments.text(kPlace));
    if (!place) {
        return Error{std::string("--") + kPlace, place.error().message};
    }
    computing.place = *std::move(place);
    if (arguments.has(kFolder)) {
        if (computing.place.kind != engine::EnginePlace::Kind::CommandLine) {
            return Error{std::string("--") + kFolder, "is only for --place with a name or a command line"};
        }
        computing.place.folder = arguments.text(kFolder);
    }
    computing.detach = arguments.has(kDetach);
    if (computing.detach && !arguments.has(kPlace)) {
        computing.place = engine::backgroundPlace();
    }
    if (computing.detach && computing.place.kind != engine::EnginePlace::Kind::Background) {
        return Error{std::string("--") + kDetach, "is only for --place background"};
    }
    return Done{};
}

std::filesystem::path pathFor(const Computing& computing, const std::filesystem::path& path)
{
    const bool isOwn = computing.place.kind != engine::EnginePlace::Kind::Background;
    return isOwn || path.empty() ? path : std::filesystem::absolute(path).lexically_normal();
}

OptionSpec placeOption()
{
    return {.name = kPlace,
            .kind = OptionKind::Text,
            .value = "PLACE",
            .help = "where the engine runs: background (a process that outlives this one), a name from the window's "
                    "list of places, or a command line that ends in residua-engine --stdio (default: a child of this "
                    "process)",
            .choices = {"background"}};
}

OptionSpec folderOption()
{
    return {.name = kFolder,
            .kind = OptionKind::Text,
            .value = "DIR",
            .help = "of --place: a folder on the other machine that receives the project and the run, where it sees "
                    "none of this machine's; residua-cli fetch brings checkpoints back"};
}

OptionSpec detachOption()
{
    return {.name = kDetach,
            .kind = OptionKind::Flag,
            .value = {},
            .help = "start the run in the background and return; residua-cli watch and stop follow it and end it"};
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
