// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/engine_link.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <optional>
#include <variant>

namespace residua::cli {
namespace {

constexpr engine::QueryTag kQuery{1};

/// Asks and waits for the answer; nothing after an interrupt.
std::optional<engine::Event> ask(const engine::Command& question)
{
    EngineLink link;
    link.post(question);
    return link.next();
}

Exit unanswered(const std::optional<engine::Event>& answer, const Console& console)
{
    if (!answer) {
        return Exit::Interrupted;
    }
    const auto* const failed = std::get_if<engine::QueryFailed>(&*answer);
    return console.fail(Exit::RunFailed, failed != nullptr ? failed->error : Error{"engine", "unexpected answer"});
}

template <class Request>
void setRun(Request& request, const Arguments& arguments)
{
    request.tag = kQuery;
    request.runDirectory = arguments.positional(0);
    if (arguments.has("from")) {
        request.step = arguments.integer("from", 0);
    }
}

Exit runEval(const Arguments& arguments, const Console& console)
{
    engine::EvaluateRequest request;
    setRun(request, arguments);
    request.split = arguments.text("split", request.split);
    request.batches = arguments.integer("batches", 0);
    const std::optional<engine::Event> answer = ask(request);
    const auto* const ready = answer ? std::get_if<engine::EvaluationReady>(&*answer) : nullptr;
    if (ready == nullptr) {
        return unanswered(answer, console);
    }
    console.line(request.split + " loss " + lossText(ready->loss) + " over " + grouped(ready->batches) + " batches");
    console.value({{"split", request.split}, {"loss", ready->loss}, {"batches", ready->batches}});
    return Exit::Ok;
}

Exit runSample(const Arguments& arguments, const Console& console)
{
    engine::SampleRequest request;
    setRun(request, arguments);
    request.prompt = arguments.text("prompt");
    request.tokens = arguments.integer("tokens", request.tokens);
    request.temperature = arguments.real("temperature", request.temperature);
    request.topK = arguments.integer("top-k", request.topK);
    request.seed = arguments.integer("seed", request.seed);
    const std::optional<engine::Event> answer = ask(request);
    const auto* const ready = answer ? std::get_if<engine::SampleReady>(&*answer) : nullptr;
    if (ready == nullptr) {
        return unanswered(answer, console);
    }
    console.line(ready->text);
    console.value({{"text", ready->text}});
    return Exit::Ok;
}

const PositionalSpec kRun{"RUN", "a run's directory"};
const OptionSpec kFrom{"from", OptionKind::Integer, "STEP", "the checkpoint of this step (default: the last)", {}, 0};

} // namespace

std::vector<Command> modelCommands()
{
    return {
        {"eval",
         "the mean loss of a checkpoint on a part of the data",
         "residua-cli eval my-project/runs/RUN --split test",
         {{kRun},
          {kFrom,
           {"split", OptionKind::Text, "NAME", "train, validation (default) or test"},
           {"batches", OptionKind::Integer, "N", "at most so many (default: all)", {}, 0}}},
         &runEval},
        {"sample",
         "continue a text with a checkpoint's language model",
         "residua-cli sample my-project/runs/RUN --prompt \"Once\" --tokens 100",
         {{kRun},
          {kFrom,
           {"prompt", OptionKind::Text, "TEXT", "what to continue (default: the data's beginning)"},
           {"tokens", OptionKind::Integer, "N", "tokens to add (default 200)", {}, 0},
           {"temperature", OptionKind::Real, "T", "0: always the likeliest token (default 0.8)", {}, 0},
           {"top-k", OptionKind::Integer, "K", "only from the K likeliest (default: all)", {}, 0},
           {"seed", OptionKind::Integer, "N", "of the draws (default 1)"}}},
         &runSample},
    };
}

} // namespace residua::cli
