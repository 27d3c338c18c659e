// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/run_argument.h"
#include "app/cli/commands/commands.h"
#include "app/cli/runs/engine_client.h"
#include "engine/api/session.h"
#include "projects/base/text.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <variant>

namespace residua::cli {
namespace {

Exit runFetch(const Arguments& arguments, const Console& console)
{
    engine::FetchCheckpoint request;
    request.tag = engine::QueryTag{1};
    request.runDirectory = arguments.positional(0);
    if (arguments.has("step")) {
        request.step = arguments.integer("step", 0);
    }
    const auto tell = [&console](const engine::Event& news) {
        const double share = std::get<engine::FetchProgress>(news).share;
        console.status("fetched " + std::to_string(static_cast<int>(100 * share)) + " %");
    };
    const std::optional<engine::Event> answer = ask(request, 0, tell);
    console.status("");
    const auto* const fetched = answer ? std::get_if<engine::CheckpointFetched>(&*answer) : nullptr;
    if (fetched == nullptr) {
        return unanswered(answer, console, "nothing was fetched");
    }
    console.line("fetched the checkpoint of step " + groupedText(fetched->step) + ", " +
                 bytesText(static_cast<double>(fetched->bytes)) + ": " + fetched->checkpoint.string());
    console.value({{"checkpoint", fetched->checkpoint.string()}, {"step", fetched->step}, {"bytes", fetched->bytes}});
    return Exit::Ok;
}

} // namespace

std::vector<Command> fetchCommands()
{
    return {{"fetch",
             "copy a checkpoint of a run that trains on another machine into its directory here",
             "residua-cli fetch my-project/runs/first --step 500",
             {{{"RUN", "the run's directory on this machine"}},
              {{"step", OptionKind::Integer, "STEP", "the checkpoint of this step (default: the last one)", {}, 0}}},
             &runFetch,
             Yields::Files}};
}

} // namespace residua::cli
