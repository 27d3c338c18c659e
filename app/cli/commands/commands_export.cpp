// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/arguments.h"
#include "app/cli/arguments/project_argument.h"
#include "app/cli/commands/commands.h"
#include "app/cli/runs/engine_client.h"
#include "projects/base/text.h"
#include "projects/huggingface/model_kinds.h"

#include <nlohmann/json.hpp>

#include <iterator>
#include <optional>
#include <variant>

namespace residua::cli {
namespace {

constexpr engine::QueryTag kExport{1};

std::string formatKeys()
{
    return joinedText(engine::exportFormats(), ", ", &engine::ExportFormatInfo::key);
}

std::string formatHelp()
{
    return joinedText(engine::exportFormats(), "; ",
                      [](const engine::ExportFormatInfo& info) { return std::string(info.key) + ": " + info.makes; });
}

std::string howToLoad(const engine::ExportReady& ready)
{
    if (ready.architecture.empty()) {
        return "python " + (ready.folder / "check.py").string() + " compares it with what is recorded here";
    }
    return (ready.ownCode ? "a model with code of its own" : "a model of the architecture " + ready.architecture) +
           ": " + projects::autoClassOf(ready.architecture) + ".from_pretrained(\"" + ready.folder.string() + "\"" +
           (ready.ownCode ? ", trust_remote_code=True)" : ")");
}

Exit runExport(const Arguments& arguments, const Console& console)
{
    const std::string named = arguments.text("to");
    const std::optional<engine::ExportFormat> format = engine::exportFormatFrom(named);
    if (!format) {
        return console.fail(
            Exit::Usage, {"--to", named.empty() ? "missing, expected one of " + formatKeys()
                                                : "got \"" + shortened(named) + "\", expected one of " + formatKeys()});
    }
    if (arguments.has("type") && *format != engine::ExportFormat::HuggingFace) {
        return console.fail(Exit::Usage, {"--type", "is of --to huggingface alone"});
    }
    if (!arguments.has("output")) {
        return console.fail(Exit::Usage, {"--output", "missing, expected -o FOLDER, which does not exist yet"});
    }
    const Result<std::filesystem::path> run = absolutePath(arguments.positional(0));
    const Result<std::filesystem::path> folder = absolutePath(arguments.text("output"));
    if (!run || !folder) {
        return console.fail(Exit::Usage, run ? folder.error() : run.error());
    }
    engine::ExportRequest request;
    request.tag = kExport;
    request.of = runFrom(arguments);
    request.of.runDirectory = *run;
    request.folder = *folder;
    request.format = *format;
    request.type = arguments.text("type");
    const std::optional<engine::Event> answer =
        ask(request, console, Computing::from(arguments), shareTeller(console, "weights: "));
    const auto* const ready = answer ? std::get_if<engine::ExportReady>(&*answer) : nullptr;
    if (ready == nullptr) {
        return unanswered(answer, console, "nothing is written");
    }
    remarkNotes(ready->notes, console);
    const std::string left =
        ready->leftOut > 0 ? "; " + groupedText(ready->leftOut) + " parameters that nothing reads are left out" : "";
    console.line("wrote " + ready->folder.string() + ": the network after step " + groupedText(ready->step) + ", " +
                 groupedText(ready->layers) + (ready->layers == 1 ? " layer, " : " layers, ") +
                 groupedText(ready->parameters) + " parameters" + left);
    console.line(howToLoad(*ready));
    console.value({{"folder", ready->folder.string()},
                   {"format", named},
                   {"architecture", ready->architecture},
                   {"step", ready->step},
                   {"layers", ready->layers},
                   {"parameters", ready->parameters},
                   {"leftOut", ready->leftOut},
                   {"notes", ready->notes}});
    return Exit::Ok;
}

} // namespace

std::vector<Command> exportCommands()
{
    return {
        {"export",
         "write a checkpoint's network as PyTorch code, as ONNX, or as a model that transformers loads",
         "residua-cli export my-project/runs/first --to pytorch -o my-project/pytorch",
         {{{"RUN", "a run's directory"}},
          {offering(OptionSpec{"to", OptionKind::Text, "FORMAT", formatHelp()}, exportNames()),
           {"output", OptionKind::Text, "FOLDER", "the new folder, which must not exist", "o"},
           offering(OptionSpec{"type", OptionKind::Text, "TYPE",
                               "huggingface: " + engine::weightTypeNames() +
                                   " (default: as imported where nothing is lost, else F32)"},
                    {std::begin(engine::kWeightTypes), std::end(engine::kWeightTypes)}),
           {"from", OptionKind::Integer, "STEP", "the checkpoint of this step (default: the last)", {}, 0},
           projectOption(),
           otherDataOption(),
           threadsOption()}},
         &runExport,
         Yields::Files},
    };
}

} // namespace residua::cli
