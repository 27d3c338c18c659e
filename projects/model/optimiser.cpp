// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/model/optimiser.h"

#include "projects/model/parameter_name.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace residua::projects {
namespace {

using Kind = OptimiserState::Kind;

bool isIn(const ParameterGroup& group, const TrainedParameter& parameter)
{
    return (group.role == ParameterRole::Any || group.role == parameterRoleOf(parameter)) &&
           matchesPattern(parameter.name, group.names);
}

/// Returns the rule of a parameter: the algorithm that trains it, and its rate. Muon updates matrices of layers, and
/// those of the wiring if a group selects them.
UpdateRule applied(const Optimiser& optimiser, double rateScale, const TrainedParameter& parameter,
                   bool isSelected = false)
{
    const auto* const muon = std::get_if<Muon>(&optimiser);
    const bool isMatrix = parameterRoleOf(parameter) == ParameterRole::Hidden || (isSelected && parameter.matrix);
    if (muon != nullptr && !isMatrix) {
        return {muon->rest, rateScale * muon->restRate, 0, {}};
    }
    const bool scalesEach =
        std::holds_alternative<Adafactor>(optimiser) && parameter.matrix && parameter.matrix->stacks;
    return {optimiser, rateScale, 0, muon != nullptr || scalesEach ? parameter.matrix : std::nullopt};
}

/// True if the group is for some parameters, and not for all.
bool selects(const ParameterGroup& group)
{
    return group.names != "*" || group.role == ParameterRole::Topology;
}

OptimiserState likeParameter(std::string_view name, const TrainedParameter& parameter)
{
    return {name, parameter.shape};
}

std::vector<std::int64_t> without(std::vector<std::int64_t> shape, std::int64_t dimension)
{
    shape.erase(shape.begin() + dimension);
    return shape;
}

} // namespace

ParameterRole parameterRoleOf(const TrainedParameter& parameter)
{
    const NetworkPart part = parameterNameFrom(withoutTower(parameter.name)).part;
    if (part == NetworkPart::Topology) {
        return ParameterRole::Topology;
    }
    if (parameter.is == ParameterClass::Vector || parameter.shape.size() < 2) {
        return ParameterRole::Vector;
    }
    if (parameter.is == ParameterClass::Table || part == NetworkPart::Stem) {
        return ParameterRole::Embedding;
    }
    return part == NetworkPart::Head ? ParameterRole::Head : ParameterRole::Hidden;
}

UpdateRule ruleOf(const Optimiser& optimiser, const std::vector<ParameterGroup>& groups,
                  const TrainedParameter& parameter)
{
    const auto group = std::ranges::find_if(groups, [&](const ParameterGroup& each) { return isIn(each, parameter); });
    const bool isGrouped = group != groups.end();
    UpdateRule rule = isGrouped ? applied(group->optimiser, group->rateScale, parameter, selects(*group))
                                : applied(optimiser, 1.0, parameter);
    const GroupDecay decay = isGrouped ? group->decay : GroupDecay::AsDeclared;
    if (decay == GroupDecay::All || (decay == GroupDecay::AsDeclared && parameter.decays)) {
        rule.weightDecay = std::visit([](const auto& algorithm) { return algorithm.weightDecay; }, rule.algorithm);
    }
    return rule;
}

AdamW::States<OptimiserState> statesOf(const AdamW&, const TrainedParameter& parameter)
{
    return {likeParameter("mean", parameter), likeParameter("square", parameter), {"step", {}, Kind::Count}};
}

Sgd::States<OptimiserState> statesOf(const Sgd& sgd, const TrainedParameter& parameter)
{
    return {sgd.momentum > 0 ? std::optional(likeParameter("momentum", parameter)) : std::nullopt};
}

Adafactor::States<OptimiserState> statesOf(const Adafactor& adafactor, const TrainedParameter& parameter)
{
    const std::vector<std::int64_t> factored = parameterRoleOf(parameter) == ParameterRole::Topology
                                                   ? std::vector<std::int64_t>()
                                                   : factoredDimensions(adafactor, parameter.shape);
    const OptimiserState count{"step", {}, Kind::CountOnHost};
    if (factored.empty()) {
        return {likeParameter("square", parameter), std::nullopt, std::nullopt, count};
    }
    return {std::nullopt, OptimiserState{"row", without(parameter.shape, factored[0])},
            OptimiserState{"column", without(parameter.shape, factored[1])}, count};
}

Galore::States<OptimiserState> statesOf(const Galore& galore, const TrainedParameter& parameter)
{
    const OptimiserState count{"step", {}, Kind::CountOnHost};
    if (parameterRoleOf(parameter) != ParameterRole::Hidden || parameter.shape.size() != 2) {
        return {likeParameter("mean", parameter), likeParameter("square", parameter), count, std::nullopt,
                std::nullopt};
    }
    const std::int64_t m = parameter.shape[0];
    const std::int64_t n = parameter.shape[1];
    const std::int64_t r = std::min({galore.rank, m, n});
    const bool shorterIsRight = m >= n;
    const bool both = galore.side == GaloreSide::Both;
    const bool left = both || galore.side == GaloreSide::Left ||
                      (galore.side == GaloreSide::Shorter && !shorterIsRight) ||
                      (galore.side == GaloreSide::Longer && shorterIsRight);
    const bool right = both || !left;
    const std::vector<std::int64_t> projected{left ? r : m, right ? r : n};
    return {{"mean", projected},
            {"square", projected},
            count,
            left ? std::optional(OptimiserState{"left", {m, r}}) : std::nullopt,
            right ? std::optional(OptimiserState{"right", {r, n}}) : std::nullopt};
}

Muon::States<OptimiserState> statesOf(const Muon&, const TrainedParameter& parameter)
{
    return {likeParameter("momentum", parameter)};
}

Lion::States<OptimiserState> statesOf(const Lion&, const TrainedParameter& parameter)
{
    return {likeParameter("momentum", parameter)};
}

std::vector<OptimiserState> statesOf(const Optimiser& algorithm, const TrainedParameter& parameter)
{
    std::vector<OptimiserState> all;
    const auto add = [&all](const OptimiserState& state) {
        all.push_back(state);
        return state;
    };
    std::visit([&](const auto& own) { (void)statesOf(own, parameter).map(add); }, algorithm);
    return all;
}

double stateElements(const Optimiser& algorithm, const TrainedParameter& parameter)
{
    double sum = 0;
    for (const OptimiserState& state : statesOf(algorithm, parameter)) {
        if (state.kind == Kind::Elements) {
            sum += std::accumulate(state.shape.begin(), state.shape.end(), 1.0, std::multiplies<>());
        }
    }
    return sum;
}

bool keepsShapes(const Optimiser& algorithm)
{
    return !std::holds_alternative<Adafactor>(algorithm) && !std::holds_alternative<Galore>(algorithm);
}

std::vector<std::int64_t> factoredDimensions(const Adafactor& algorithm, const std::vector<std::int64_t>& shape)
{
    std::vector<std::int64_t> bySize(shape.size());
    std::iota(bySize.begin(), bySize.end(), 0);
    std::ranges::stable_sort(bySize, {}, [&](std::int64_t i) { return shape[static_cast<std::size_t>(i)]; });
    if (shape.size() < 2 || shape[static_cast<std::size_t>(bySize.end()[-2])] < algorithm.factoredFrom) {
        return {};
    }
    return {bySize.end()[-1], bySize.end()[-2]};
}

bool matchesPattern(std::string_view text, std::string_view pattern)
{
    const std::size_t star = pattern.find('*');
    if (star == std::string_view::npos) {
        return text == pattern;
    }
    if (!text.starts_with(pattern.substr(0, star))) {
        return false;
    }
    // Each further part is taken where it comes first, the last one at the end.
    text.remove_prefix(star);
    pattern.remove_prefix(star + 1);
    while (true) {
        const std::size_t next = pattern.find('*');
        const std::string_view part = pattern.substr(0, next);
        if (next == std::string_view::npos) {
            return text.ends_with(part);
        }
        const std::size_t found = text.find(part);
        if (found == std::string_view::npos) {
            return false;
        }
        text.remove_prefix(found + part.size());
        pattern.remove_prefix(next + 1);
    }
}

} // namespace residua::projects
