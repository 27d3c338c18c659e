// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/arguments.h"
#include "app/cli/arguments/project_argument.h"
#include "app/cli/arguments/request_arguments.h"
#include "app/cli/commands/commands.h"
#include "app/cli/runs/engine_client.h"
#include "projects/base/text.h"
#include "projects/huggingface/model_kinds.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace residua::cli {
namespace {

std::string howToLoad(const engine::ExportReady& ready)
{
    if (ready.architecture.empty()) {
        return "python " + (ready.folder / "check.py").string() + " compares it with what is recorded here";
    }
    return (ready.ownCode ? "a model with code of its own" : "a model of the architecture " + ready.architecture) +
           ": " + projects::autoClassOf(ready.architecture) + ".from_pretrained(\"" + ready.folder.string() + "\"" +
           projects::loadingOptionsOf(ready.architecture) + ")";
}

Exit runExport(const Arguments& arguments, const Console& console)
{
    const engine::ExportRequest request =
        RESIDUA_TRY_OR_FAIL(Exit::Usage, requestFrom<engine::ExportRequest>(arguments));
    if (arguments.has("type") && request.format != engine::ExportFormat::HuggingFace) {
        return console.fail(Exit::Usage, {"--type", "is of --to huggingface alone"});
    }
    const engine::ExportReady ready = RESIDUA_TRY(answerOf(request, console, Computing::from(arguments),
                                                           shareTeller(console, "weights: "), "nothing is written"));
    remarkNotes(ready.notes, console);
    const std::string left =
        ready.leftOut > 0 ? "; " + groupedText(ready.leftOut) + " parameters that nothing reads are left out" : "";
    console.line("wrote " + ready.folder.string() + ": the network after step " + groupedText(ready.step) + ", " +
                 groupedText(ready.layers) + (ready.layers == 1 ? " layer, " : " layers, ") +
                 groupedText(ready.parameters) + " parameters" + left);
    console.line(howToLoad(ready));
    console.value({{"folder", ready.folder.string()},
                   {"format", engine::infoOf(request.format).key},
                   {"architecture", ready.architecture},
                   {"step", ready.step},
                   {"layers", ready.layers},
                   {"parameters", ready.parameters},
                   {"leftOut", ready.leftOut},
                   {"notes", ready.notes}});
    return Exit::Ok;
}

} // namespace

std::vector<Command> exportCommands()
{
    std::vector<OptionSpec> options = optionsOf<engine::ExportRequest>({threadsOption()});
    std::ranges::find(options, "type", &OptionSpec::name)->choices = {std::begin(engine::kWeightTypes),
                                                                      std::end(engine::kWeightTypes)};
    return {{"export",
             "write a checkpoint's network as PyTorch code, as ONNX, or as a model that transformers loads",
             "residua-cli export my-project/runs/first --to pytorch -o my-project/pytorch",
             {{{"RUN", "a run's directory"}}, std::move(options)},
             &runExport,
             Yields::Files}};
}

} // namespace residua::cli
