// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/low_rank_arguments.h"

#include "app/cli/arguments/data_argument.h"
#include "projects/base/text.h"
#include "projects/schema/fields.h"
#include "projects/schema/method_keys.h"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

namespace residua::cli {
namespace {

constexpr std::string_view kRankScale = "/network/rank/scale";

/// Returns the words that --inputs accepts.
std::vector<std::string> inputWords()
{
    std::vector<std::string> words;
    const auto field = projects::fieldOfSchema("/initialisation/low_rank_inputs");
    for (const projects::Choice& choice : field.value().choices) {
        words.emplace_back(choice.name);
    }
    return words;
}

} // namespace

OptionSpec rankOption()
{
    return fieldOption("/network/rank/rank", "rank", "N", "the rank of each weight");
}

OptionSpec rankScaleOption(std::string help)
{
    return fieldOption(kRankScale, "rank-scale", "S", std::move(help)); // rankFrom() checks the open end
}

OptionSpec inputsOption(std::string help)
{
    return {
        .name = "inputs", .kind = OptionKind::Text, .value = "NAME", .help = std::move(help), .choices = inputWords()};
}

Result<std::optional<projects::WeightRank>> rankFrom(const Arguments& arguments)
{
    using Rank = std::optional<projects::WeightRank>;
    if (arguments.has("rank") && arguments.has("rank-scale")) {
        return Error{"", "--rank and --rank-scale exclude each other"};
    }
    if (arguments.has("rank")) {
        return Rank(projects::FixedRank{arguments.integer("rank", 1)});
    }
    if (!arguments.has("rank-scale")) {
        return Rank();
    }
    const double scale = arguments.real("rank-scale", 1);
    const projects::Range range = projects::fieldOfSchema(kRankScale).value().field.more.range;
    return range.contains(scale)
               ? Result<Rank>(Rank(projects::RankScale{scale}))
               : Result<Rank>(Error{"--rank-scale", "got " + numberText(scale) + ", expected " + textOf(range)});
}

Result<std::optional<projects::LowRankInputs>> inputsFrom(const Arguments& arguments)
{
    const std::string inputs = arguments.text("inputs");
    if (inputs.empty()) {
        return std::optional<projects::LowRankInputs>();
    }
    const std::optional<projects::LowRankInputs> found = projects::lowRankInputsFrom(inputs);
    if (!found) {
        return Error{"--inputs", "got \"" + shortened(inputs) + "\", expected one of " + joinedText(inputWords())};
    }
    return found;
}

Result<projects::LowRankMethod> methodFrom(const std::string& name)
{
    const auto method = projects::lowRankMethodFrom(name);
    return method
               ? Result<projects::LowRankMethod>(*method)
               : Result<projects::LowRankMethod>(Error{"--method", "got \"" + shortened(name) + "\", expected one of " +
                                                                       projects::lowRankMethodWords()});
}

Result<std::vector<projects::LowRankMethod>> methodsFrom(const std::string& list)
{
    std::vector<projects::LowRankMethod> methods;
    std::istringstream names(list);
    for (std::string name; std::getline(names, name, ',');) {
        const auto method = projects::lowRankMethodFrom(name);
        if (!method) {
            return Error{"--methods",
                         "got \"" + shortened(name) + "\", expected some of " + projects::lowRankMethodWords()};
        }
        if (std::ranges::find(methods, *method) == methods.end()) {
            methods.push_back(*method);
        }
    }
    if (methods.empty()) {
        return Error{"--methods", std::string("names none, expected ") + kGapMethods + " or the like"};
    }
    return methods;
}

} // namespace residua::cli
