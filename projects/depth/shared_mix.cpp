// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/depth/shared_mix.h"

#include "projects/depth/visit_shortcuts.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
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

/// Returns the modules by the numbers of those of rowStackOf(), whose last one is the final output.
VisitedModules rowModules(const Stack& stack)
{
    return {rowLayersOf(stack), modulesIn(stack.topology.wiring, 1)};
}

/// True if the shortcuts are at every visit, and from the latest visit before it.
bool areEveryVisits(const Stack& stack, const std::vector<Shortcut>& shortcuts)
{
    const VisitedModules modules = rowModules(stack);
    std::set<Shortcut> numbers;
    for (const Shortcut& each : shortcuts) {
        numbers.insert({modules.numberOf(each.source), modules.numberOf(each.target)});
    }
    std::vector<Shortcut> every;
    for (const Shortcut& each : numbers) {
        std::ranges::copy(modules.everyVisit(mixOf(stack), each), std::back_inserter(every));
    }
    std::ranges::sort(every);
    return every == shortcuts;
}

/// Returns the learned terms of planOf() with the numbers of their readers and sources.
std::vector<SharedTerm> listedTerms(const Stack& stack)
{
    const DepthPlan plan = planOf(mixOf(stack), stack.depth());
    const VisitedModules modules = rowModules(stack);
    std::vector<SharedTerm> terms;
    for (const std::size_t index : learnedTerms(mixOf(stack), plan)) {
        const DepthTerm& term = plan.terms[index];
        terms.push_back({modules.numberOf(plan.readers[term.reader].target), term.output, modules.numberOf(term.source),
                         plan.start[index]});
    }
    return terms;
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
    for (std::size_t i = 0; mix != nullptr && i < stack.loops.size(); ++i) {
        if (stack.loops[i].rows == VisitRows::Layer && stack.isSound(i)) {
            return !isPlainResidual(*mix) && neededToShare(stack).empty();
        }
    }
    return false;
}

bool sharesByDistance(const DepthMix& mix)
{
    return mix.weight != WeightKind::Fixed && std::holds_alternative<FirstAndLast>(mix.sources);
}

std::string neededToShare(const Stack& stack)
{
    const DepthMix& mix = mixOf(stack);
    const bool isFixed = mix.weight == WeightKind::Fixed;
    const auto* const listed = std::get_if<ExplicitSources>(&mix.sources);
    std::vector<Shortcut> own = listed == nullptr || isFixed ? std::vector<Shortcut>() : listed->shortcuts;
    for (const auto& [shortcut, state] : mix.states) {
        if (!isFixed ||
            (state.hasOwnWeight() && (state != ShortcutState::Learned || !(isRunningSum(mix) || listed != nullptr)))) {
            return "expected no shortcuts with states of their own, but for learned ones beside the plain sum or of a "
                   "list with fixed weights";
        }
        if (state.hasOwnWeight()) {
            own.push_back(shortcut);
        }
    }
    if (mix.gate.kind != GateKind::None || mix.weight == WeightKind::PerToken) {
        return "expected learned weights without a gate, or attention over depth";
    }
    if (mix.weight != WeightKind::DepthAttention && !isFixed) {
        if ((listed == nullptr && (!sharesByDistance(mix) || hasTwoFamilies(mix))) || mix.blockLayers != 1) {
            return "expected the last k entries as sources (first_and_last) of one family, listed shortcuts, or "
                   "attention over depth";
        }
        if (const std::int64_t k = listed != nullptr ? 1 : std::get<FirstAndLast>(mix.sources).k;
            k < 1 || k > kMostShared) {
            return "expected 1 to " + std::to_string(kMostShared) + " last entries as sources";
        }
    }
    const bool counts = mix.normalise == NormaliseOver::Targets || mix.init == MixInit::Reciprocal ||
                        (!sharesByDistance(mix) && mix.init == MixInit::Cascaded);
    if (counts && mix.weight != WeightKind::DepthAttention && (!isFixed || !own.empty())) {
        return "expected weights that are not normalised over targets and do not start at 1/j, or listed ones as a "
               "cascade, which count the visits";
    }
    return areEveryVisits(stack, own)
               ? ""
               : "expected each shortcut at every visit, from the latest visit before it, as 2:4 without @ names it";
}

std::string curesOfVisits(const Stack& stack)
{
    if (stack.loops.empty()) {
        return {};
    }
    const auto own = std::ranges::find(stack.loops, VisitRows::Visit, &Loop::rows);
    const std::string loop =
        "--set /network/loops/" + std::to_string(own == stack.loops.end() ? 0 : own - stack.loops.begin());
    return "; weights of single visits serve only the visits that they were trained with: train a run with " + loop +
           "/rows=layer and no visit embedding, gate, streams and adapter_rank, or with " + loop + "/visits=N";
}

std::vector<SharedTerm> sharedTerms(const Stack& stack)
{
    const DepthMix& mix = mixOf(stack);
    if (mix.weight == WeightKind::DepthAttention) {
        return {};
    }
    if (!sharesByDistance(mix)) {
        const std::vector<SharedTerm> all = listedTerms(stack);
        const std::set<SharedTerm> terms(all.begin(), all.end());
        return {terms.begin(), terms.end()};
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
    const VisitedModules rows = rowModules(stack);
    const std::int64_t modules = modulesIn(stack.topology.wiring, stack.depth());
    std::map<std::int64_t, int> readers; // mixes of those that read anything
    for (std::int64_t target = 1; target <= lastReader(mix, modules); ++target) {
        const DepthReader reader = readerOf(mix, target, modules);
        if (!reader.sources.empty()) {
            readers.emplace(rows.numberOf(target), reader.outputs);
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
    const VisitedModules modules = rowModules(stack);
    std::vector<std::int64_t> rows;
    if (mix.weight == WeightKind::DepthAttention) {
        for (const DepthReader& reader : plan.readers) {
            for (int output = 0; output < reader.outputs; ++output) {
                rows.push_back((modules.numberOf(reader.target) - 1) * static_cast<std::int64_t>(plan.ports.size()) +
                               output);
            }
        }
        return rows;
    }
    std::map<std::tuple<std::int64_t, int, std::int64_t>, std::int64_t> places;
    for (const SharedTerm& term : sharedTerms(stack)) {
        places.emplace(std::tuple(term.target, term.output, term.source), std::ssize(places));
    }
    if (!sharesByDistance(mix)) {
        for (const SharedTerm& term : listedTerms(stack)) {
            rows.push_back(places.at({term.target, term.output, term.source}));
        }
        return rows;
    }
    for (const DepthTerm& term : plan.terms) {
        const DepthReader& reader = plan.readers[term.reader];
        rows.push_back(places.at({modules.numberOf(reader.target), term.output, relative(mix, reader, term.source)}));
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
    return withLearned(mixOf(stack), plan, std::move(all));
}

bool sharesCoefficients(const Stack& stack)
{
    return sharesMix(stack) && mixOf(stack).weight != WeightKind::DepthAttention;
}

Stack withVisits(Stack stack, std::size_t loop, std::int64_t visits)
{
    const Stack old = stack;
    stack.loops.at(loop).visits = visits;
    auto* const mix = std::get_if<DepthMix>(&stack.topology.wiring);
    if (mix == nullptr || !listsShortcuts(*mix)) {
        return stack;
    }
    const std::int64_t each = modulesIn(stack.topology.wiring, 1);
    const bool shares = stack.loops[loop].rows == VisitRows::Layer;
    const VisitedModules before = shares ? rowModules(old) : storedModules(old, each);
    const VisitedModules after = shares ? rowModules(stack) : storedModules(stack, each);
    const auto sameVisit = [&](std::int64_t module) {
        const std::vector<std::int64_t> was = before.visitsOf(before.numberOf(module));
        const std::vector<std::int64_t> is = after.visitsOf(before.numberOf(module));
        const auto visit = static_cast<std::size_t>(std::ranges::find(was, module) - was.begin());
        return visit < is.size() ? std::optional(is[visit]) : std::nullopt;
    };
    moveShortcuts(
        *mix, before, after, [](std::int64_t number) { return std::optional(number); },
        [&](const Shortcut& shortcut) {
            const auto source = sameVisit(shortcut.source);
            const auto target = sameVisit(shortcut.target);
            return source && target ? std::optional(Shortcut{*source, *target}) : std::nullopt;
        });
    return stack;
}

} // namespace residua::projects
