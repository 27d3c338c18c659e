// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/low_rank_arguments.h"

#include "projects/schema/method_keys.h"

#include <algorithm>
#include <sstream>

namespace residua::cli {

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
    return scale > 0 ? Result<Rank>(Rank(projects::RankScale{scale}))
                     : Result<Rank>(Error{"--rank-scale", "got 0, expected more than 0 and at most 1"});
}

Result<std::optional<projects::LowRankInputs>> inputsFrom(const Arguments& arguments)
{
    const std::string inputs = arguments.text("inputs");
    if (inputs.empty()) {
        return std::optional<projects::LowRankInputs>();
    }
    if (inputs != "data" && inputs != "gaussian") {
        return Error{"--inputs", "got \"" + shortened(inputs) + "\", expected data or gaussian"};
    }
    return std::optional(inputs == "data" ? projects::LowRankInputs::Data : projects::LowRankInputs::Gaussian);
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
