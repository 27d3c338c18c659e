// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/model/topology.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace residua::projects {
namespace {

std::int64_t modulesAt(MixSites sites, std::int64_t layers)
{
    return sites == MixSites::Both ? 2 * layers : layers;
}

/// The number of modules that share an entry.
std::int64_t sharersOf(const DepthMix& mix)
{
    return std::max<std::int64_t>(mix.blockLayers, 1);
}

/// The effective k: at most the number of entries, and 0 for values that validate() rejects.
std::int64_t lastOf(const FirstAndLast& ends, std::int64_t newest)
{
    return std::clamp<std::int64_t>(ends.k, 0, newest + 1);
}

std::vector<std::int64_t> range(std::int64_t first, std::int64_t last)
{
    std::vector<std::int64_t> result(static_cast<std::size_t>(std::max<std::int64_t>(last - first + 1, 0)));
    std::iota(result.begin(), result.end(), first);
    return result;
}

std::vector<std::int64_t> firstAndLast(const FirstAndLast& ends, std::int64_t newest)
{
    const std::int64_t first = newest - lastOf(ends, newest) + 1;
    if (ends.earlier == EarlierEntries::Nothing) {
        return range(std::max<std::int64_t>(first, 0), newest);
    }
    std::vector<std::int64_t> result = range(std::max<std::int64_t>(first, 1), newest);
    result.insert(result.begin(), 0);
    return result;
}

/// DenseFormer: reader j may read entry i if j − 1 − i is a multiple of the dilation. Readers of full outputs use no
/// weights off the period and before layer 1. Readers of branches have no entry that equals the layer before.
std::vector<std::int64_t> dilated(const Dilated& sources, const DepthMix& mix, std::int64_t newest, bool isFinal)
{
    const bool onPeriod = newest % std::max<std::int64_t>(sources.period, 1) == 0;
    const bool passes = sources.readers == DilatedReaders::OnPeriod && mix.entry == StackEntry::Full &&
                        mix.feeds == MixFeeds::LayerInput;
    if (passes && (!onPeriod || newest == 0)) {
        return {};
    }
    if (!onPeriod && !isFinal) {
        return {newest};
    }
    std::vector<std::int64_t> result;
    const std::int64_t step = std::clamp<std::int64_t>(sources.dilation, 1, newest + 1);
    for (std::int64_t i = newest % step; i <= newest; i += step) {
        result.push_back(i);
    }
    return result;
}

std::vector<std::int64_t> listed(const ExplicitSources& sources, std::int64_t target, std::int64_t newest)
{
    std::vector<std::int64_t> result;
    for (const Shortcut& shortcut : std::ranges::equal_range(sources.shortcuts, target, {}, &Shortcut::target)) {
        const bool repeated = !result.empty() && result.back() == shortcut.source;
        if (shortcut.source >= 0 && shortcut.source <= newest && !repeated) {
            result.push_back(shortcut.source);
        }
    }
    return result;
}

bool reads(const DepthMix& mix, std::int64_t target, std::int64_t depth)
{
    return target >= 1 && target <= lastReader(mix, depth);
}

/// True if it joins two attentions or two FFNs, if modules are the halves of layers.
bool joinsLikeSites(const Shortcut& shortcut)
{
    return (shortcut.target - shortcut.source) % 2 == 0;
}

bool isLastWithoutMix(const DepthMix& mix, std::int64_t target, std::int64_t depth)
{
    return mix.feeds == MixFeeds::ResidualBesideBranch && !mix.lastMix && target == depth;
}

/// Keeps the `sources` that isReadable() allows. Precondition: none is newer than the newest entry. A deep stack has a
/// million shortcuts, so conditions that are equal for all sources of a target are tested once.
void keepReadable(std::vector<std::int64_t>& sources, const DepthMix& mix, std::int64_t target, std::int64_t depth)
{
    if (isLastWithoutMix(mix, target, depth)) {
        sources.clear();
    } else if (hasTwoFamilies(mix)) {
        std::erase_if(sources, [&](std::int64_t source) { return !joinsLikeSites({source, target}); });
    }
}

/// Removes the pruned shortcuts. Both `sources` and the states of `target` are in ascending order, so one pass is
/// enough.
void dropPruned(std::vector<std::int64_t>& sources, const DepthMix& mix, std::int64_t target)
{
    auto state = mix.states.lower_bound({std::numeric_limits<std::int64_t>::min(), target});
    std::erase_if(sources, [&](std::int64_t source) {
        const Shortcut shortcut{source, target};
        while (state != mix.states.end() && state->first < shortcut) {
            ++state;
        }
        return state != mix.states.end() && state->first == shortcut && state->second == ShortcutState::Pruned;
    });
}

} // namespace

std::int64_t mixedModules(const DepthMix& mix, std::int64_t layers)
{
    return modulesAt(sitesOf(mix), layers);
}

std::int64_t modulesIn(const Wiring& wiring, std::int64_t layers)
{
    return modulesAt(sitesOf(wiring), layers);
}

MixSites sitesOf(const DepthMix& mix)
{
    return isRunningSum(mix) ? MixSites::Mhsa : mix.sites;
}

MixSites sitesOf(const Wiring& wiring)
{
    if (const auto* const mix = std::get_if<DepthMix>(&wiring)) {
        return sitesOf(*mix);
    }
    if (const auto* const streams = std::get_if<MultiStream>(&wiring)) {
        return streams->sites;
    }
    const auto* const gate = std::get_if<BranchGate>(&wiring);
    return gate && gate->gate != BranchGateKind::ValueResidual ? gate->sites : MixSites::Mhsa;
}

bool splitsLayers(const DepthMix& mix)
{
    return sitesOf(mix) != MixSites::Mhsa;
}

bool splitsLayers(const Wiring& wiring)
{
    return sitesOf(wiring) != MixSites::Mhsa;
}

bool hasTwoFamilies(const DepthMix& mix)
{
    return mix.feeds == MixFeeds::ResidualBesideBranch && mix.sites == MixSites::Both &&
           mix.sitePairs == SitePairs::Alike;
}

bool mayBeLeftOut(const Wiring& wiring, std::int64_t layer)
{
    const auto* const gate = std::get_if<BranchGate>(&wiring);
    return gate == nullptr || gate->gate != BranchGateKind::ValueResidual || layer != 1;
}

bool isRunningSum(const DepthMix& mix)
{
    const bool oneInput = mix.ports == MixPorts::Input && mix.blockLayers == 1;
    const bool besideSum =
        mix.states.empty() ||
        (oneInput && std::ranges::all_of(mix.states, [](const auto& state) { return state.second.hasOwnWeight(); }));
    return mix.weight == WeightKind::Fixed && mix.init == MixInit::Ones && mix.entry == StackEntry::Branch &&
           mix.feeds == MixFeeds::LayerInput && mix.normalise == NormaliseOver::None && besideSum &&
           mix.gate.kind == GateKind::None && std::holds_alternative<AllSources>(mix.sources);
}

bool readsBranches(const DepthMix& mix)
{
    return mix.entry == StackEntry::Branch && mix.feeds == MixFeeds::LayerInput && !isRunningSum(mix);
}

bool isPlainResidual(const DepthMix& mix)
{
    return mix.states.empty() && isRunningSum(mix);
}

bool isPlainResidual(const Wiring& wiring)
{
    const auto* const mix = std::get_if<DepthMix>(&wiring);
    return mix != nullptr && isPlainResidual(*mix);
}

std::int64_t stackEntryOf(const DepthMix& mix, std::int64_t module)
{
    return module <= 0 ? 0 : (module - 1) / sharersOf(mix) + 1;
}

std::int64_t newestEntryBefore(const DepthMix& mix, std::int64_t target)
{
    return stackEntryOf(mix, target - 1);
}

std::int64_t lastModuleIn(const DepthMix& mix, const Shortcut& shortcut)
{
    const std::int64_t newest = newestEntryBefore(mix, shortcut.target);
    return shortcut.source < newest ? shortcut.source * sharersOf(mix) : shortcut.target - 1;
}

std::int64_t lastReader(const DepthMix& mix, std::int64_t depth)
{
    return depth + (mix.finalMix ? 1 : 0);
}

std::vector<std::int64_t> possibleSources(const DepthMix& mix, std::int64_t target, std::int64_t depth)
{
    if (!reads(mix, target, depth)) {
        return {};
    }
    std::vector<std::int64_t> result = range(0, newestEntryBefore(mix, target));
    keepReadable(result, mix, target, depth);
    return result;
}

std::vector<std::int64_t> sourcesOf(const DepthMix& mix, std::int64_t target, std::int64_t depth, Pruned pruned)
{
    if (!reads(mix, target, depth)) {
        return {};
    }
    const std::int64_t newest = newestEntryBefore(mix, target);
    std::vector<std::int64_t> result;
    if (const auto* const ends = std::get_if<FirstAndLast>(&mix.sources)) {
        result = firstAndLast(*ends, newest);
    } else if (const auto* const steps = std::get_if<Dilated>(&mix.sources)) {
        result = dilated(*steps, mix, newest, target == depth + 1);
    } else if (const auto* const list = std::get_if<ExplicitSources>(&mix.sources)) {
        result = listed(*list, target, newest);
    } else {
        result = range(0, newest);
    }
    keepReadable(result, mix, target, depth);
    if (pruned == Pruned::LeftOut) {
        dropPruned(result, mix, target);
    }
    return result;
}

bool passesNewest(const DepthMix& mix, std::int64_t target, std::int64_t depth)
{
    if (mix.feeds == MixFeeds::ResidualBesideBranch) {
        return (hasTwoFamilies(mix) && target == 1) || (!mix.lastMix && target == depth);
    }
    return mix.entry == StackEntry::Full && sourcesOf(mix, target, depth).empty() &&
           !summedMiddleOf(mix, target, depth);
}

bool isReadable(const DepthMix& mix, const Shortcut& shortcut, std::int64_t depth)
{
    return !isLastWithoutMix(mix, shortcut.target, depth) &&
           shortcut.source <= newestEntryBefore(mix, shortcut.target) &&
           (!hasTwoFamilies(mix) || joinsLikeSites(shortcut));
}

std::optional<EntryRange> summedMiddleOf(const DepthMix& mix, std::int64_t target, std::int64_t depth)
{
    const auto* const ends = std::get_if<FirstAndLast>(&mix.sources);
    if (!ends || ends->earlier != EarlierEntries::InputAndSum || !reads(mix, target, depth)) {
        return std::nullopt;
    }
    const std::int64_t newest = newestEntryBefore(mix, target);
    const EntryRange middle{1, newest - lastOf(*ends, newest)};
    return middle.first <= middle.last ? std::optional(middle) : std::nullopt;
}

} // namespace residua::projects
