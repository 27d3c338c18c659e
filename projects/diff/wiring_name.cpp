// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/diff/diff.h"

#include "projects/base/text.h"
#include "projects/model/graph.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace residua::projects {
namespace {

constexpr std::size_t kMostListed = 3; ///< shortcuts that are listed one by one
constexpr std::size_t kMostWords = 2;  ///< further differences that are listed

/// The differences between the shortcuts of two mixes.
struct ShortcutChanges {
    std::vector<Shortcut> added;
    std::size_t pruned = 0;
    std::size_t frozen = 0;
    [[nodiscard]] bool empty() const { return added.empty() && pruned == 0 && frozen == 0; }
};

ShortcutChanges shortcutChanges(const DepthMix& before, const DepthMix& after)
{
    ShortcutChanges changes;
    const auto* old = std::get_if<ExplicitSources>(&before.sources);
    const auto* now = std::get_if<ExplicitSources>(&after.sources);
    if (old != nullptr && now != nullptr) {
        std::ranges::set_difference(now->shortcuts, old->shortcuts, std::back_inserter(changes.added));
        std::vector<Shortcut> gone;
        std::ranges::set_difference(old->shortcuts, now->shortcuts, std::back_inserter(gone));
        changes.pruned = gone.size();
    }
    for (const auto& [shortcut, state] : after.states) {
        const auto same = before.states.find(shortcut);
        if (same != before.states.end() && same->second == state) {
            continue;
        }
        changes.pruned += state == ShortcutState::Pruned ? 1 : 0;
        changes.frozen += state == ShortcutState::Frozen ? 1 : 0;
        if (state == ShortcutState::Learned) {
            changes.added.push_back(shortcut);
        }
    }
    std::ranges::sort(changes.added);
    return changes;
}

/// Returns `after` with the shortcuts of `before`, so that a further comparison ignores them.
Wiring withShortcutsOf(const DepthMix& before, DepthMix after)
{
    if (before.sources.index() == after.sources.index()) {
        after.sources = before.sources;
    }
    after.states = before.states;
    return after;
}

std::string addedText(const std::vector<Shortcut>& added)
{
    if (added.size() > kMostListed) {
        return " + " + countText(added.size(), "shortcut");
    }
    std::string text;
    for (const Shortcut& shortcut : added) {
        text += " + " + textOf(shortcut);
    }
    return text;
}

} // namespace

bool isPresetTitle(const std::string& title, const Network& network)
{
    const auto presets = topologyPresets(network);
    return std::ranges::find(presets, title, &TopologyPreset::title) != presets.end();
}

std::string wiringName(const Topology& topology, const Network& network)
{
    const auto presets = topologyPresets(network);
    const auto preset = std::ranges::find(presets, topology.preset, &TopologyPreset::name);
    if (preset == presets.end()) {
        return "custom";
    }
    const auto* before = std::get_if<DepthMix>(&preset->wiring);
    const auto* after = std::get_if<DepthMix>(&topology.wiring);
    const bool mixes = before != nullptr && after != nullptr;
    const ShortcutChanges shortcuts = mixes ? shortcutChanges(*before, *after) : ShortcutChanges();
    std::vector<std::string> words;
    for (const auto& [count, word] : {std::pair(shortcuts.pruned, " pruned"), {shortcuts.frozen, " frozen"}}) {
        if (count > 0) {
            words.push_back(std::to_string(count) + word);
        }
    }
    const Topology rest{topology.preset, mixes ? withShortcutsOf(*before, *after) : topology.wiring};
    const std::vector<Change> changes = diff(Topology{topology.preset, preset->wiring}, rest);
    for (std::size_t i = 0; i < std::min(changes.size(), kMostWords); ++i) {
        words.push_back(briefText(changes[i]));
    }
    const std::string text = preset->title + addedText(shortcuts.added);
    return words.empty() ? text : "custom from " + text + ", " + joinedText(words);
}

} // namespace residua::projects
