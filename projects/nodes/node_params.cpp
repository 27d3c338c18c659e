// SPDX-License-Identifier: GPL-3.0-or-later
// Parameters of nodes: their values in a network, and how they are read.
#include "projects/base/text.h"
#include "projects/nodes/expression.h"
#include "projects/nodes/node_kinds.h"

#include <algorithm>

namespace residua::projects {
namespace {

Error paramError(const ParamSpec& spec, const std::string& message)
{
    return Error{spec.name(), message};
}

Status checkRange(const ParamSpec& spec, double value)
{
    const Range& range = spec.more.range;
    if (range.contains(value)) {
        return Done{};
    }
    const bool below = !(value >= range.least);
    return paramError(spec, "got " + numberText(value) + ", expected " + (below ? "at least " : "at most ") +
                                numberText(below ? range.least : range.most));
}

Result<ParamValue> evaluateInteger(const ParamSpec& spec, const ParamValue& value, const Sizes& sizes)
{
    std::int64_t number = 0;
    if (const auto* const whole = std::get_if<std::int64_t>(&value)) {
        number = *whole;
    } else if (const auto* const formula = std::get_if<std::string>(&value)) {
        const Result<std::int64_t> size = evaluateSize(*formula, sizes.named);
        if (!size) {
            return paramError(spec,
                              (size.error().place.empty() ? "" : size.error().place + ": ") + size.error().message);
        }
        number = *size;
    } else {
        return paramError(spec, "expected a whole number or a formula");
    }
    const Status range = checkRange(spec, static_cast<double>(number));
    return range ? Result<ParamValue>(number) : range.error();
}

Result<ParamValue> evaluateReal(const ParamSpec& spec, const ParamValue& value)
{
    double number = 0;
    if (const auto* const real = std::get_if<double>(&value)) {
        number = *real;
    } else if (const auto* const whole = std::get_if<std::int64_t>(&value)) {
        number = static_cast<double>(*whole);
    } else {
        return paramError(spec, "expected a number");
    }
    const Status range = checkRange(spec, number);
    return range ? Result<ParamValue>(number) : range.error();
}

/// Formats a value that is not text as in a file.
std::string wordOf(const ParamValue& value)
{
    const auto* const flag = std::get_if<bool>(&value);
    const auto* const whole = std::get_if<std::int64_t>(&value);
    return flag ? (*flag ? "true" : "false") : whole ? std::to_string(*whole) : numberText(std::get<double>(value));
}

Result<ParamValue> evaluateText(const ParamSpec& spec, const ParamValue& value)
{
    const auto* const text = std::get_if<std::string>(&value);
    if (spec.type == ParamType::Choice && (!text || std::ranges::find(spec.choices, *text) == spec.choices.end())) {
        return paramError(spec,
                          "got " + (text ? *text : wordOf(value)) + ", expected one of " + joinedText(spec.choices));
    }
    return text ? Result<ParamValue>(value) : paramError(spec, "expected text");
}

Result<ParamValue> evaluateRank(const ParamSpec& spec, const ParamValue& value, const Sizes& sizes)
{
    if (value == ParamValue(std::string(kFullRank))) {
        return value;
    }
    if (const auto* const share = std::get_if<double>(&value)) {
        return *share > 0 && *share <= 1
                   ? Result<ParamValue>(value)
                   : paramError(spec, "got the share " + numberText(*share) + ", expected more than 0 and at most 1");
    }
    if (value == ParamValue(std::string(kNetworkRank))) {
        const auto* const scale = std::get_if<RankScale>(&sizes.rank);
        const auto* const fixed = std::get_if<FixedRank>(&sizes.rank);
        return scale   ? evaluateRank(spec, scale->scale, sizes)
               : fixed ? evaluateRank(spec, fixed->rank, sizes)
                       : Result<ParamValue>(std::string(kFullRank));
    }
    return evaluateInteger(spec, value, sizes);
}

} // namespace

Result<ParamValue> evaluateParam(const ParamSpec& spec, const ParamValue& value, const Sizes& sizes)
{
    switch (spec.type) {
    case ParamType::Flag:
        return std::holds_alternative<bool>(value) ? Result<ParamValue>(value)
                                                   : paramError(spec, "expected true or false");
    case ParamType::Integer:
        return evaluateInteger(spec, value, sizes);
    case ParamType::Real:
        return evaluateReal(spec, value);
    case ParamType::Rank:
        return evaluateRank(spec, value, sizes);
    case ParamType::Choice:
    case ParamType::Text:
    case ParamType::Formula:
        break;
    }
    return evaluateText(spec, value);
}

Result<ParamMap> evaluateParams(const Node& node, const Sizes& sizes)
{
    const NodeKind* const kind = findNodeKind(node.kind);
    if (!kind) {
        return Error{"", "unknown kind " + node.kind};
    }
    for (const auto& [name, value] : node.params) {
        if (std::ranges::find(kind->params, name, &ParamSpec::key) == kind->params.end()) {
            return Error{name, node.kind + " has no parameter of this name"};
        }
    }
    ParamMap result;
    for (const ParamSpec& spec : kind->params) {
        const auto own = node.params.find(spec.name());
        const ParamValue& given = own == node.params.end() ? spec.defaultValue : own->second;
        const bool takesNetworkRank = std::ranges::all_of(spec.networkRankWhere, [&](const ParamCondition& condition) {
            return std::ranges::count(condition.values, result.at(condition.param)) > 0;
        });
        const bool staysFull = spec.type == ParamType::Rank && given == spec.defaultValue && !takesNetworkRank;
        ParamValue value =
            RESIDUA_TRY(evaluateParam(spec, staysFull ? ParamValue(std::string(kFullRank)) : given, sizes));
        result.emplace(spec.name(), std::move(value));
    }
    return result;
}

bool appliesTo(const ParamSpec& spec, const Node& node)
{
    const NodeKind* const kind = findNodeKind(node.kind);
    return kind != nullptr && std::ranges::all_of(spec.where, [&](const ParamCondition& condition) {
               const auto own = node.params.find(condition.param);
               const auto known = std::ranges::find(kind->params, condition.param, &ParamSpec::key);
               return known != kind->params.end() &&
                      std::ranges::count(condition.values,
                                         own == node.params.end() ? known->defaultValue : own->second) > 0;
           });
}

std::int64_t paramInt(const ParamMap& params, const std::string& name)
{
    return std::get<std::int64_t>(params.at(name));
}

double paramDouble(const ParamMap& params, const std::string& name)
{
    return std::get<double>(params.at(name));
}

bool paramBool(const ParamMap& params, const std::string& name)
{
    return std::get<bool>(params.at(name));
}

const std::string& paramText(const ParamMap& params, const std::string& name)
{
    return std::get<std::string>(params.at(name));
}

} // namespace residua::projects
