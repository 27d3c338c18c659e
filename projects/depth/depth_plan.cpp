// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/depth/depth_plan.h"

#include "projects/depth/stream_start.h"

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

namespace residua::projects {
namespace {

/// In the order of MixInit.
constexpr std::array<StartLaw, 4> kStartLaws{{
    {[](const DepthReader&, std::int64_t) { return 1.0; }, "1.0", false, false},
    {[](const DepthReader&, std::int64_t) { return 0.0; }, "0.0", false, false},
    {[](const DepthReader& reader, std::int64_t source) { return source == reader.sources.back() ? 1.0 : 0.0; },
     "float(i == SOURCES[j][-1])"},
    {[](const DepthReader& reader, std::int64_t) { return 1.0 / static_cast<double>(reader.target); }, "1 / j", true,
     false},
}};
static_assert(static_cast<std::size_t>(MixInit::Reciprocal) + 1 == kStartLaws.size());

/// Returns a plan without readers.
DepthPlan emptyPlan(const DepthMix& mix, std::int64_t layers)
{
    DepthPlan plan;
    plan.layers = layers;
    plan.modules = mixedModules(mix, layers);
    plan.ports = portsOf(mix.ports);
    return plan;
}

void addReader(DepthPlan& plan, const DepthMix& mix, std::int64_t target)
{
    const std::size_t number = plan.readers.size();
    const DepthReader& reader = plan.readers.emplace_back(readerOf(mix, target, plan.modules));
    for (int output = 0; output < reader.outputs; ++output) {
        for (const std::int64_t source : reader.sources) {
            plan.terms.push_back({number, output, source});
            plan.start.push_back(startOf(mix, reader, source));
        }
    }
}

} // namespace

const StartLaw& startLaw(MixInit init)
{
    return kStartLaws[static_cast<std::size_t>(init)];
}

double startOf(const DepthMix& mix, const DepthReader& reader, std::int64_t source)
{
    const auto state = mix.states.find({source, reader.target});
    const bool isGiven = state != mix.states.end() && state->second.hold == ShortcutState::Hold::Number;
    return isGiven ? state->second.number : startLaw(mix.init).number(reader, source);
}

bool hasState(const DepthMix& mix, Shortcut shortcut, ShortcutState::Kind kind)
{
    const auto found = mix.states.find(shortcut);
    return found != mix.states.end() && found->second == kind;
}

bool hasOwnWeight(const DepthMix& mix, Shortcut shortcut)
{
    const auto found = mix.states.find(shortcut);
    return mix.weight != WeightKind::Fixed || (found != mix.states.end() && found->second.hasOwnWeight());
}

DepthReader readerOf(const DepthMix& mix, std::int64_t target, std::int64_t modules, Pruned pruned)
{
    DepthReader reader{target, sourcesOf(mix, target, modules, pruned), summedMiddleOf(mix, target, modules)};
    const bool counted = pruned == Pruned::Counted;
    // A layer whose input has sources never passes an entry through. passesNewest() would compute the sources again.
    const bool weighs = mix.feeds == MixFeeds::LayerInput && !counted && !reader.sources.empty();
    if (reader.middle && (counted || !hasState(mix, {reader.middle->first, target}, ShortcutState::Pruned))) {
        reader.sources.push_back(reader.middle->first);
        std::ranges::sort(reader.sources);
    }
    reader.outputs = target <= modules ? static_cast<int>(portsOf(mix.ports).size()) : 1;
    reader.passes = !weighs && passesNewest(mix, target, modules);
    return reader;
}

MixPort DepthPlan::portOf(const DepthReader& reader, int output) const
{
    const bool isFinal = reader.target > modules;
    return isFinal && ports.size() > 1 ? MixPort::Final
           : isFinal                   ? MixPort::Input
                                       : ports[static_cast<std::size_t>(output)];
}

DepthPlan planOf(const DepthMix& mix, std::int64_t layers)
{
    DepthPlan plan = emptyPlan(mix, layers);
    for (std::int64_t target = 1; target <= lastReader(mix, plan.modules); ++target) {
        addReader(plan, mix, target);
    }
    return plan;
}

DepthPlan planOf(const DepthMix& mix, std::int64_t layers, std::int64_t target)
{
    DepthPlan plan = emptyPlan(mix, layers);
    addReader(plan, mix, target);
    return plan;
}

Result<ExplicitSources> listedSources(const DepthMix& mix, std::int64_t modules)
{
    constexpr std::int64_t kDeepest = 1024; // deeper stacks have millions of pairs, too many to edit one by one
    if (modules > kDeepest) {
        return Error{"topology", "cannot list the shortcuts of " + std::to_string(modules) +
                                     " layers one by one; expected at most " + std::to_string(kDeepest)};
    }
    ExplicitSources listed;
    for (std::int64_t target = 1; target <= modules + 1; ++target) {
        for (const std::int64_t source : sourcesOf(mix, target, modules, Pruned::Counted)) {
            listed.shortcuts.push_back({source, target});
        }
    }
    return listed;
}

std::vector<std::size_t> learnedTerms(const DepthMix& mix, const DepthPlan& plan)
{
    std::vector<std::size_t> learned;
    for (std::size_t t = 0; t < plan.terms.size(); ++t) {
        const Shortcut shortcut{plan.terms[t].source, plan.readers[plan.terms[t].reader].target};
        if (hasOwnWeight(mix, shortcut)) {
            learned.push_back(t);
        }
    }
    return learned;
}

std::vector<HeldTerm> heldTerms(const DepthMix& mix, const DepthPlan& plan)
{
    std::vector<HeldTerm> held;
    const std::vector<std::size_t> learned = learnedTerms(mix, plan);
    for (std::size_t place = 0; place < learned.size(); ++place) {
        const DepthTerm& term = plan.terms[learned[place]];
        const auto state = mix.states.find({term.source, plan.readers[term.reader].target});
        if (state != mix.states.end() && state->second == ShortcutState::Frozen) {
            const bool isGiven = state->second.hold == ShortcutState::Hold::Number;
            held.push_back({place, isGiven ? std::optional(state->second.number) : std::nullopt});
        }
    }
    return held;
}

std::optional<MixNumbers> withLearned(const DepthMix& mix, const DepthPlan& plan, MixNumbers learned)
{
    const std::vector<std::size_t> terms = learnedTerms(mix, plan);
    if (learned.features < 1 || learned.values.size() != terms.size() * static_cast<std::size_t>(learned.features)) {
        return std::nullopt;
    }
    if (terms.size() == plan.terms.size()) {
        return learned;
    }
    MixNumbers all{1, plan.start}; // fixed weights are scalars
    for (std::size_t i = 0; i < terms.size(); ++i) {
        all.values[terms[i]] = learned.values[i];
    }
    return all;
}

std::int64_t perTokenHidden(const DepthMix& mix, std::int64_t weights, bool isFinal)
{
    const double wanted = static_cast<double>(weights) * (isFinal ? mix.finalHidden : 1);
    const auto hidden = std::max<std::int64_t>(static_cast<std::int64_t>(wanted), weights > 0 ? 1 : 0);
    const std::int64_t multiple = std::max<std::int64_t>(mix.hiddenMultiple, 1);
    return weights == 0 || multiple == 1 ? hidden : (hidden / multiple + 1) * multiple;
}

std::vector<std::vector<std::size_t>> normalisedTogether(const DepthMix& mix, const DepthPlan& plan)
{
    const std::vector<DepthTerm>& terms = plan.terms;
    std::vector<std::vector<std::size_t>> groups;
    std::map<std::pair<int, std::int64_t>, std::size_t> places;
    for (std::size_t t = 0; t < terms.size(); ++t) {
        const bool bySource = mix.normalise == NormaliseOver::Targets;
        const std::pair key{terms[t].output, bySource ? terms[t].source : plan.readers[terms[t].reader].target};
        if (mix.normalise == NormaliseOver::None) {
            groups.push_back({t});
            continue;
        }
        const auto [place, isNew] = places.try_emplace(key, groups.size());
        if (isNew) {
            groups.emplace_back();
        }
        groups[place->second].push_back(t);
    }
    return groups;
}

MixNumbers appliedWeights(const DepthMix& mix, const DepthPlan& plan, MixNumbers coefficients)
{
    if (mix.normalise == NormaliseOver::None) {
        return coefficients;
    }
    const auto features = static_cast<std::size_t>(coefficients.features);
    for (const std::vector<std::size_t>& group : normalisedTogether(mix, plan)) {
        for (std::size_t f = 0; f < features; ++f) {
            double largest = -std::numeric_limits<double>::infinity();
            double sum = 0;
            for (const std::size_t t : group) {
                largest = std::max(largest, coefficients.values[t * features + f]);
            }
            for (const std::size_t t : group) {
                double& weight = coefficients.values[t * features + f];
                weight = std::exp((weight - largest) / mix.temperature);
                sum += weight;
            }
            for (const std::size_t t : group) {
                coefficients.values[t * features + f] /= sum;
            }
        }
    }
    return coefficients;
}

} // namespace residua::projects
