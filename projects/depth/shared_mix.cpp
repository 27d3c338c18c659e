// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/depth/shared_mix.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace residua::projects {
namespace {

constexpr std::int64_t kMostShared = 256; ///< last entries with a weight each, whether there are so many or not
constexpr std::int64_t kInput = 0;
constexpr std::int64_t kMiddle = -1;

const DepthMix& mixOf(const Stack& stack)
{
    return std::get<DepthMix>(stack.topology.wiring);
}

/// Returns the number among the readers of rowStackOf() of each reader, from 1; that of the final output last.
std::vector<std::int64_t> rowTargets(const Stack& stack)
{
    const std::int64_t each = modulesIn(stack.topology.wiring, 1);
    const std::vector<std::int64_t> rows = rowLayersOf(stack);
    std::vector<std::int64_t> targets;
    for (const std::int64_t layer : rows) {
        for (std::int64_t part = 1; part <= each; ++part) {
            targets.push_back((layer - 1) * each + part);
        }
    }
    targets.push_back(modulesIn(stack.topology.wiring, rowStackOf(stack).depth()) + 1);
    return targets;
}

/// Returns the relative source of an entry that the reader reads.
std::int64_t relative(const DepthMix& mix, const DepthReader& reader, std::int64_t source)
{
    const auto& ends = std::get<FirstAndLast>(mix.sources);
    if (reader.middle && source == reader.middle->first) {
        return kMiddle;
    }
    return source == 0 && ends.earlier != EarlierEntries::Nothing ? kInput
                                                                  : newestEntryBefore(mix, reader.target) - source + 1;
}

} // namespace

bool sharesMix(const Stack& stack)
{
    const auto* const mix = std::get_if<DepthMix>(&stack.topology.wiring);
    const bool can = mix != nullptr && !isRunningSum(*mix) && neededToShare(*mix).empty();
    for (std::size_t i = 0; can && i < stack.loops.size(); ++i) {
        if (stack.loops[i].rows == VisitRows::Layer && stack.isSound(i)) {
            return true;
        }
    }
    return false;
}

std::string neededToShare(const DepthMix& mix)
{
    if (!mix.states.empty()) {
        return "expected no shortcuts with states of their own";
    }
    if (mix.weight == WeightKind::DepthAttention) {
        return {};
    }
    if (!hasCoefficients(mix) || mix.gate.kind != GateKind::None) {
        return "expected learned weights without a gate, or attention over depth";
    }
    if (!std::holds_alternative<FirstAndLast>(mix.sources) || hasTwoFamilies(mix) || mix.blockLayers != 1) {
        return "expected the last k entries as sources (first_and_last) of one family, or attention over depth";
    }
    if (const std::int64_t k = std::get<FirstAndLast>(mix.sources).k; k < 1 || k > kMostShared) {
        return "expected 1 to " + std::to_string(kMostShared) + " last entries as sources";
    }
    if (mix.normalise == NormaliseOver::Targets || mix.init == MixInit::Reciprocal) {
        return "expected weights that neither are normalised over targets nor start at 1/j, which count the visits";
    }
    return {};
}

std::vector<SharedTerm> sharedTerms(const Stack& stack)
{
    const DepthMix& mix = mixOf(stack);
    if (!hasCoefficients(mix)) {
        return {};
    }
    const auto& ends = std::get<FirstAndLast>(mix.sources);
    std::vector<std::int64_t> sources;
    if (ends.earlier != EarlierEntries::Nothing) {
        sources.push_back(kInput);
    }
    if (ends.earlier == EarlierEntries::InputAndSum) {
        sources.push_back(kMiddle);
    }
    for (std::int64_t distance = ends.k; distance >= 1; --distance) {
        sources.push_back(distance);
    }
    const std::vector<std::int64_t> targets = rowTargets(stack);
    const std::int64_t modules = std::ssize(targets) - 1;
    std::map<std::int64_t, int> readers; // mixes of those that read anything
    for (std::int64_t target = 1; target <= lastReader(mix, modules); ++target) {
        const DepthReader reader = readerOf(mix, target, modules);
        if (!reader.sources.empty()) {
            readers.emplace(targets[static_cast<std::size_t>(target - 1)], reader.outputs);
        }
    }
    std::vector<SharedTerm> terms;
    for (const auto& [target, outputs] : readers) {
        for (int output = 0; output < outputs; ++output) {
            for (const std::int64_t source : sources) {
                const bool isOne = mix.init == MixInit::Ones || (mix.init == MixInit::Cascaded && source == 1);
                terms.push_back({target, output, source, isOne ? 1.0 : 0.0});
            }
        }
    }
    return terms;
}

std::vector<std::int64_t> sharedRows(const Stack& stack)
{
    const DepthMix& mix = mixOf(stack);
    const DepthPlan plan = planOf(mix, stack.depth());
    const std::vector<std::int64_t> targets = rowTargets(stack);
    std::vector<std::int64_t> rows;
    if (mix.weight == WeightKind::DepthAttention) {
        for (const DepthReader& reader : plan.readers) {
            const std::int64_t row = targets[static_cast<std::size_t>(reader.target - 1)];
            for (int output = 0; output < reader.outputs; ++output) {
                rows.push_back((row - 1) * static_cast<std::int64_t>(plan.ports.size()) + output);
            }
        }
        return rows;
    }
    std::map<std::tuple<std::int64_t, int, std::int64_t>, std::int64_t> places;
    for (const SharedTerm& term : sharedTerms(stack)) {
        places.emplace(std::tuple(term.target, term.output, term.source), std::ssize(places));
    }
    for (const DepthTerm& term : plan.terms) {
        const DepthReader& reader = plan.readers[term.reader];
        const std::int64_t target = targets[static_cast<std::size_t>(reader.target - 1)];
        rows.push_back(places.at({target, term.output, relative(mix, reader, term.source)}));
    }
    return rows;
}

std::optional<MixNumbers> coefficientsOf(const Stack& stack, const DepthPlan& plan, MixNumbers stored)
{
    if (!sharesMix(stack)) {
        return withLearned(mixOf(stack), plan, std::move(stored));
    }
    const auto features = static_cast<std::size_t>(std::max<std::int64_t>(stored.features, 1));
    if (stored.values.size() != sharedTerms(stack).size() * features) {
        return std::nullopt;
    }
    MixNumbers all{stored.features, {}};
    for (const std::int64_t row : sharedRows(stack)) {
        const auto first = stored.values.begin() + row * stored.features;
        all.values.insert(all.values.end(), first, first + stored.features);
    }
    return all;
}

} // namespace residua::projects
