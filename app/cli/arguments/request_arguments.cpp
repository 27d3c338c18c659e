// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/request_arguments.h"

#include "app/cli/arguments/data_argument.h"
#include "projects/schema/fields.h"

#include <string_view>

namespace residua::cli {
namespace {

constexpr std::string_view kRankScale = "/network/rank/scale";

} // namespace

OptionSpec rankOption()
{
    return fieldOption("/network/rank/rank", "rank", "N", "the rank of each weight");
}

OptionSpec rankScaleOption(std::string help)
{
    return fieldOption(kRankScale, "rank-scale", "S", std::move(help)); // rankFrom() checks the open end
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

std::string methodList(const std::vector<projects::LowRankMethod>& methods)
{
    return joinedText(methods, ",", projects::wordOf);
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
        return Error{"--methods", "names none, expected spectral,lfai-ws,exact or the like"};
    }
    return methods;
}

} // namespace residua::cli
