// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/edit_apply.h"

#include "projects/topology.h"

#include <algorithm>
#include <optional>

namespace residua::projects {

namespace {

constexpr const char* kPlace = "topology";

/// Deeper stacks have millions of pairs, which nobody edits one by one.
constexpr std::int64_t kDeepestExplicit = 1024;

Error noMix(const Topology& topology)
{
    return {kPlace, "has no shortcuts to edit: it is a " + std::string(alternativeOf(topology.wiring)) +
                        "; expected a depth_mix"};
}

/// What is read now, one by one. Pruned shortcuts stay in the set, with their state.
Result<ExplicitSources> explicitSourcesOf(const DepthMix& mix, std::int64_t depth)
{
    if (const auto* already = std::get_if<ExplicitSources>(&mix.sources)) {
        return *already;
    }
    if (depth > kDeepestExplicit) {
        return Error{kPlace, "cannot list the shortcuts of " + std::to_string(depth) +
                                 " layers one by one; expected at most " + std::to_string(kDeepestExplicit)};
    }
    DepthMix unpruned = mix;
    unpruned.states.clear();
    ExplicitSources listed;
    for (std::int64_t target = 1; target <= depth + 1; ++target) {
        for (const std::int64_t source : sourcesOf(unpruned, target, depth)) {
            listed.shortcuts.push_back({source, target});
        }
    }
    return listed;
}

/// Why nothing would read `shortcut`; nullopt where something does.
std::optional<Error> unreadable(const DepthMix& mix, const Shortcut& shortcut, std::int64_t depth)
{
    if (shortcut.source < 0 || shortcut.source >= shortcut.target || shortcut.target > depth + 1) {
        return Error{kPlace, "shortcut " + textOf(shortcut) + " is out of range; expected source < target, from 0 to " +
                                 std::to_string(depth + 1) + " (the final output)"};
    }
    if (shortcut.target == depth + 1 && !mix.finalMix) {
        return Error{kPlace, "shortcut " + textOf(shortcut) +
                                 " ends at the final output, which reads no mix of its own; "
                                 "switch the final mix on first"};
    }
    return std::nullopt;
}

/// A change of the explicit set alone is taken back by its opposite; any other by the topology as it was.
template <class Opposite>
Edit inverseFor(const Topology& before, const Topology& after, const Shortcut& shortcut, std::int64_t depth)
{
    const auto& old = std::get<DepthMix>(before.wiring);
    const bool setAlone = std::holds_alternative<ExplicitSources>(old.sources) && !old.states.contains(shortcut) &&
                          !unreadable(std::get<DepthMix>(after.wiring), shortcut, depth);
    return setAlone ? Edit{Opposite{shortcut}} : Edit{SetTopology{before}};
}

} // namespace

Result<Edit> applyTo(Document& document, const AddShortcut& edit)
{
    Topology& topology = document.project.topology;
    auto* mix = std::get_if<DepthMix>(&topology.wiring);
    if (mix == nullptr) {
        return noMix(topology);
    }
    const std::int64_t depth = mixedModules(*mix, document.project.network.depth());
    if (auto error = unreadable(*mix, edit.shortcut, depth)) {
        return *std::move(error);
    }
    auto sources = explicitSourcesOf(*mix, depth);
    if (!sources) {
        return sources.error();
    }
    auto& list = sources->shortcuts;
    const auto at = std::lower_bound(list.begin(), list.end(), edit.shortcut);
    const bool listed = at != list.end() && *at == edit.shortcut;
    const auto state = mix->states.find(edit.shortcut);
    const bool pruned = state != mix->states.end() && state->second == ShortcutState::Pruned;
    if (listed && !pruned) {
        return Error{kPlace, "shortcut " + textOf(edit.shortcut) + " is there already"};
    }
    const Topology before = topology;
    if (pruned) {
        mix->states.erase(state);
    }
    if (!listed) {
        list.insert(at, edit.shortcut);
        mix->sources = *std::move(sources);
    }
    return inverseFor<RemoveShortcut>(before, topology, edit.shortcut, depth);
}

Result<Edit> applyTo(Document& document, const RemoveShortcut& edit)
{
    Topology& topology = document.project.topology;
    auto* mix = std::get_if<DepthMix>(&topology.wiring);
    if (mix == nullptr) {
        return noMix(topology);
    }
    const std::int64_t depth = mixedModules(*mix, document.project.network.depth());
    auto sources = explicitSourcesOf(*mix, depth);
    if (!sources) {
        return sources.error();
    }
    if (std::erase(sources->shortcuts, edit.shortcut) == 0) {
        return Error{kPlace, "shortcut " + textOf(edit.shortcut) + " is not there to be removed"};
    }
    const Topology before = topology;
    mix->sources = *std::move(sources);
    mix->states.erase(edit.shortcut);
    return inverseFor<AddShortcut>(before, topology, edit.shortcut, depth);
}

Result<Edit> applyTo(Document& document, const SetShortcutState& edit)
{
    auto* mix = std::get_if<DepthMix>(&document.project.topology.wiring);
    if (mix == nullptr) {
        return noMix(document.project.topology);
    }
    if (auto representable = canonical(edit.shortcut, kPlace); !representable) {
        return representable.error();
    }
    SetShortcutState inverse{edit.shortcut, std::nullopt};
    if (const auto found = mix->states.find(edit.shortcut); found != mix->states.end()) {
        inverse.state = found->second;
    }
    if (edit.state) {
        mix->states.insert_or_assign(edit.shortcut, *edit.state);
    } else {
        mix->states.erase(edit.shortcut);
    }
    return Edit{inverse};
}

} // namespace residua::projects
