// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/project_argument.h"
#include "app/cli/arguments/request_arguments.h"
#include "app/cli/commands/commands.h"
#include "app/cli/terminal/process.h"
#include "app/cli/terminal/terminal_text.h"
#include "engine/base/api/tokeniser_training.h"
#include "projects/base/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace residua::cli {
namespace {

/// Returns the command line that makes a project of the text and the model.
std::string advice(const engine::TokeniserTraining& training)
{
    std::string text = "residua-cli new DIR --data " + shellWord(training.text.string()) + " --tokeniser " +
                       shellWord(training.output.string());
    if (training.field != engine::TokeniserTraining().field) {
        text += " --field " + shellWord(training.field);
    }
    return text;
}

/// Shows figures that tell how well the tokeniser fits the text.
void showTrial(const engine::TrainedTokeniser& trained, const Console& console)
{
    const auto tokens = static_cast<double>(std::max<std::int64_t>(trained.triedTokens, 1));
    std::array<char, 64> share{};
    std::snprintf(share.data(), share.size(), "%.2f characters and %.2f bytes a token",
                  trained.triedCharacters / tokens, trained.triedBytes / tokens);
    console.line(std::string(share.data()) + " over " + (trained.triedAll ? "the text" : "its first MiB") +
                 ", a line of which is: " + trained.example);
}

Exit runTokenise(const Arguments& arguments, const Console& console)
{
    const std::filesystem::path text = RESIDUA_TRY_OR_FAIL(Exit::Usage, absolutePath(arguments.positional(0)));
    engine::TokeniserTraining asked =
        RESIDUA_TRY_OR_FAIL(Exit::Usage, requestFrom<engine::TokeniserTraining>(arguments));
    engine::TokeniserTraining& training = asked;
    training.text = text;
    const std::string kind = nameOf(training.model);
    const Interruptible interruptible; // a partly written file beside the model is removed before the end
    const Result<engine::TrainedTokeniser> trained =
        engine::trainTokeniser(training, [&](const engine::TokeniserProgress& progress) {
            const bool reads = progress.read < 1;
            console.status((reads ? "reading " : "learning pieces ") +
                           std::to_string(std::lround(100 * (reads ? progress.read : progress.learned))) + " %");
            return !interruptible.interrupted();
        });
    console.status("");
    if (!trained && interruptible.interrupted()) {
        return console.fail(Exit::Quit, {"", "interrupted: nothing is written"});
    }
    if (!trained) {
        return console.fail(Exit::RunFailed, trained.error());
    }
    console.line("wrote " + training.output.string() + ": a SentencePiece model (" + kind + ") of " +
                 groupedText(trained->pieces) + " pieces");
    showTrial(*trained, console);
    console.line("use it with: " + advice(training));
    console.value({{"model", training.output.string()},
                   {"kind", kind},
                   {"pieces", trained->pieces},
                   {"tried_bytes", trained->triedBytes},
                   {"tried_characters", trained->triedCharacters},
                   {"tried_tokens", trained->triedTokens},
                   {"example", trained->example}});
    return Exit::Ok;
}

} // namespace

std::vector<Command> tokeniseCommands()
{
    return {
        {"tokenise",
         "learn a tokeniser from text: a SentencePiece model",
         "residua-cli tokenise my-project/project.json --size 400 -o my-project/text.model",
         {{{"TEXT", "a text, JSON Lines (also compressed) or Parquet, or a folder of such"}},
          optionsOf<engine::TokeniserTraining>()},
         &runTokenise,
         Yields::Files},
    };
}

} // namespace residua::cli
