// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/project_argument.h"
#include "app/cli/commands/commands.h"
#include "app/cli/terminal/process.h"
#include "engine/link/bundle/pack.h"
#include "engine/link/bundle/unpack.h"
#include "projects/base/ranges.h"
#include "projects/base/text.h"

#include <nlohmann/json.hpp>

#include <array>
#include <string_view>

namespace residua::cli {
namespace {

using nlohmann::json;

template <class Value>
struct Choice {
    std::string_view word;
    Value value;
};
constexpr std::array<Choice<engine::BundledCheckpoints>, 4> kCheckpoints{{{"all", engine::BundledCheckpoints::All},
                                                                          {"last", engine::BundledCheckpoints::Last},
                                                                          {"best", engine::BundledCheckpoints::Best},
                                                                          {"none", engine::BundledCheckpoints::None}}};
constexpr std::array<Choice<engine::BundledData>, 2> kData{
    {{"files", engine::BundledData::Files}, {"fingerprint", engine::BundledData::Fingerprint}}};

template <class Value, std::size_t count>
std::vector<std::string> wordsOf(const std::array<Choice<Value>, count>& choices)
{
    return mapped<std::vector<std::string>>(choices, &Choice<Value>::word);
}

/// Returns the value for the word of an option; `otherwise` if it is not given.
template <class Value, std::size_t count>
Result<Value> chosen(const Arguments& arguments, const std::string& option,
                     const std::array<Choice<Value>, count>& choices, Value otherwise)
{
    if (!arguments.has(option)) {
        return otherwise;
    }
    const std::string word = arguments.text(option);
    for (const Choice<Value>& choice : choices) {
        if (choice.word == word) {
            return choice.value;
        }
    }
    return Error{"--" + option,
                 "got \"" + shortened(word) + "\", expected one of " + joinedText(choices, ", ", &Choice<Value>::word)};
}

/// Returns a watch that shows the progress and cancels after Ctrl-C.
engine::BundleWatch watchOn(const Console& console, const Interruptible& interruptible, const std::string& what)
{
    return [&console, &interruptible, what, shown = -1](double share) mutable {
        const int percent = static_cast<int>(100 * share);
        if (percent != shown) {
            shown = percent;
            console.status(what + " " + std::to_string(percent) + " %");
        }
        return !interruptible.interrupted();
    };
}

Exit failed(const Error& error, const Interruptible& interruptible, const Console& console)
{
    console.status("");
    return interruptible.interrupted() ? console.fail(Exit::Quit, {"", "interrupted: nothing is written"})
                                       : console.fail(Exit::Usage, error);
}

std::int64_t dataBytes(const engine::BundleContents& contents)
{
    return sumOf(contents.data,
                 [&](const engine::BundledPart& part) -> std::int64_t { return part.inside ? part.bytes : 0; });
}

Exit runPack(const Arguments& arguments, const Console& console)
{
    const auto checkpoints = RESIDUA_TRY_OR_FAIL(
        Exit::Usage, chosen(arguments, "checkpoints", kCheckpoints, engine::BundledCheckpoints::Last));
    const auto data = RESIDUA_TRY_OR_FAIL(Exit::Usage, chosen(arguments, "data", kData, engine::BundledData::Files));
    if (!arguments.has("output")) {
        return console.fail(Exit::Usage,
                            {"--output", std::string("missing, expected -o FILE") + engine::kBundleSuffix});
    }
    const std::string file = arguments.text("output");
    const Interruptible interruptible;
    const auto packed =
        engine::pack({arguments.positional(0), checkpoints, data}, file, watchOn(console, interruptible, "packing"));
    if (!packed) {
        return failed(packed.error(), interruptible, console);
    }
    console.status("");
    remarkNotes(packed->notes, console);
    const engine::BundleContents& contents = packed->contents;
    const std::int64_t inside = dataBytes(contents);
    const bool someData = !contents.data.empty();
    console.line("wrote " + file + ": project " + contents.project + ", " + countText(contents.runs.size(), "run") +
                 ", " + countText(static_cast<std::size_t>(contents.checkpoints), "checkpoint") +
                 (inside > 0 ? ", " + scaledBytes(static_cast<double>(inside)) + " of data"
                  : someData ? ", the data's fingerprint alone"
                             : "") +
                 "; " + scaledBytes(static_cast<double>(packed->size)) + ", unpacked " +
                 scaledBytes(static_cast<double>(contents.bytes())));
    console.value({{"file", file},
                   {"project", contents.project},
                   {"runs", contents.runs},
                   {"checkpoints", contents.checkpoints},
                   {"dataBytes", inside},
                   {"bytes", packed->size},
                   {"unpackedBytes", contents.bytes()},
                   {"notes", packed->notes}});
    return Exit::Ok;
}

Exit runUnpack(const Arguments& arguments, const Console& console)
{
    const Interruptible interruptible;
    const auto growth = arguments.has("any-size") ? engine::BundleGrowth::Any : engine::BundleGrowth::Plausible;
    const auto unpacked = engine::unpack(arguments.positional(0), arguments.text("output"),
                                         watchOn(console, interruptible, "unpacking"), growth);
    if (!unpacked) {
        return failed(unpacked.error(), interruptible, console);
    }
    console.status("");
    remarkNotes(unpacked->notes, console);
    console.line((unpacked->joined ? "joined the project " : "made the project ") + unpacked->project.string());
    json runs = json::array();
    for (const engine::ArrivedRun& run : unpacked->runs) {
        const std::string text = engine::textOf(run.arrival);
        console.line("run " + run.directory.string() + ": " + text + ", step " + groupedText(run.step));
        runs.push_back({{"directory", run.directory.string()}, {"arrival", text}, {"step", run.step}});
    }
    console.value({{"project", unpacked->project.string()},
                   {"joined", unpacked->joined},
                   {"runs", std::move(runs)},
                   {"notes", unpacked->notes}});
    return Exit::Ok;
}

} // namespace

std::vector<Command> bundleCommands()
{
    return {
        {"pack",
         "write a project with its runs, or one run with its project, as one file to take along",
         "residua-cli pack my-project/runs/first -o first.residua",
         {{{"PROJECT|RUN", "a project's folder, or a run's directory"}},
          {{"output", OptionKind::Text, "FILE", "the bundle; one that exists is replaced", "o"},
           choiceOption("checkpoints", "WHICH", "of each run: all, last, best or none (default: last)",
                        wordsOf(kCheckpoints)),
           choiceOption("data", "HOW", "files, or their fingerprint alone (default: files)", wordsOf(kData))}},
         &runPack,
         Yields::Files},
        {"unpack",
         "make the project that a bundle holds, or bring its runs back to the project that they left",
         "residua-cli unpack first.residua -o my-project",
         {{{"FILE", "the bundle"}},
          {{"output", OptionKind::Text, "DIR", "a new folder, or that project's (default: the bundle's name)", "o"},
           {"any-size", OptionKind::Flag, "",
            "unpack it though it becomes more than " + std::to_string(engine::kMostGrowth) + " times its size"}}},
         &runUnpack,
         Yields::Files},
    };
}

} // namespace residua::cli
