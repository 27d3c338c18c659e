// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/schema/method_keys.h"

#include "projects/base/text.h"
#include "projects/library/presets.h"
#include "projects/library/schedule_presets.h"
#include "projects/nodes/node_kinds.h"
#include "projects/schema/describe_data.h"
#include "projects/schema/describe_network.h"
#include "projects/schema/describe_topology.h"
#include "projects/schema/describe_training.h"

#include <algorithm>
#include <iterator>
#include <ranges>

namespace residua::projects {
namespace {

void append(std::vector<std::string>& keys, const auto& names)
{
    keys.insert(keys.end(), names.begin(), names.end());
}

template <class E>
std::optional<E> named(std::string_view key)
{
    const auto& names = kNamesOf<E>;
    const auto found = std::ranges::find(names, key);
    return found == names.end() ? std::nullopt : std::optional(static_cast<E>(std::distance(names.begin(), found)));
}

/// Returns the words of the methods that `isWanted` accepts, separated by commas.
std::string wordsOf(bool (*isWanted)(const LowRankTraits&))
{
    return joinedText(kLowRankMethods | std::views::filter(isWanted), ", ",
                      [](const LowRankTraits& traits) { return wordOf(traits.method); });
}

} // namespace

std::string keyOf(const Wiring& wiring)
{
    const auto* const gate = std::get_if<BranchGate>(&wiring);
    return std::string(gate ? nameOf(gate->gate) : nameOf(wiring));
}

std::string keyOf(const Source& source)
{
    return std::string(nameOf(source));
}

std::string keyOf(const Optimiser& optimiser)
{
    return std::string(nameOf(optimiser));
}

std::string keyOf(Objective objective)
{
    return std::string(nameOf(objective));
}

std::string keyOf(InitLaw law)
{
    return std::string(nameOf(law));
}

std::string keyOf(LowRankMethod method)
{
    return std::string(nameOf(method));
}

std::string titleOf(LowRankMethod method)
{
    return std::string(choiceOf(method).title);
}

std::string wordOf(LowRankMethod method)
{
    std::string word = keyOf(method);
    std::ranges::replace(word, '_', '-');
    return word;
}

std::optional<LowRankMethod> lowRankMethodFrom(std::string word)
{
    std::ranges::replace(word, '-', '_');
    return named<LowRankMethod>(word);
}

std::string lowRankMethodWords()
{
    return wordsOf([](const LowRankTraits&) { return true; });
}

std::string approximationWords()
{
    return wordsOf([](const LowRankTraits& traits) { return traits.approximates; });
}

std::string keyOf(LowRankInputs inputs)
{
    return std::string(nameOf(inputs));
}

std::optional<LowRankInputs> lowRankInputsFrom(std::string_view key)
{
    return named<LowRankInputs>(key);
}

std::vector<std::string> methodKeys()
{
    std::vector<std::string> keys;
    append(keys, kNamesOf<Wiring>);
    std::erase(keys, nameOf(Wiring(BranchGate{}))); // a branch gate has the key of its gate
    append(keys, kNamesOf<BranchGateKind>);
    append(keys, kNamesOf<Source>);
    append(keys, kNamesOf<Optimiser>);
    append(keys, kNamesOf<Objective>);
    append(keys, kNamesOf<InitLaw>);
    append(keys, kNamesOf<LowRankMethod>);
    for (const TopologyPreset& preset : topologyChoices(1)) {
        keys.push_back(preset.name);
    }
    for (const BlockPreset& preset : blockPresets()) {
        keys.push_back(preset.name);
    }
    for (const NodeKind& kind : nodeKinds()) {
        keys.push_back(kind.key);
    }
    return keys;
}

} // namespace residua::projects
