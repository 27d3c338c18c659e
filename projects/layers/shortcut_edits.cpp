// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/layers/shortcut_edits.h"

#include "projects/depth/depth_names.h"
#include "projects/depth/depth_plan.h"

#include <algorithm>
#include <utility>

namespace residua::projects {
namespace {

ShortcutKind kindOf(const DepthMix& mix, const Shortcut& shortcut)
{
    if (const auto found = mix.states.find(shortcut); found != mix.states.end()) {
        switch (found->second.kind) {
        case ShortcutState::Frozen:
            return ShortcutKind::Frozen;
        case ShortcutState::Pruned:
            return ShortcutKind::Pruned;
        case ShortcutState::Learned:
            return ShortcutKind::Learned;
        }
    }
    return mix.weight == WeightKind::Fixed ? ShortcutKind::Fixed : ShortcutKind::Learned;
}

/// Returns the steps of the stream and the learned shortcuts.
std::vector<DrawnShortcut> drawnSum(const DepthMix& mix, std::int64_t depth)
{
    std::vector<DrawnShortcut> drawn;
    auto state = mix.states.lower_bound({0, 1});
    for (std::int64_t target = 1; target <= depth + 1; ++target) {
        drawn.push_back({{target - 1, target}, ShortcutKind::Stream});
        const std::vector<std::int64_t> sources = state != mix.states.end() && state->first.target == target
                                                      ? sourcesOf(mix, target, depth)
                                                      : std::vector<std::int64_t>();
        for (; state != mix.states.end() && state->first.target == target; ++state) {
            if (state->first == drawn.back().shortcut) {
                drawn.back().kind = kindOf(mix, state->first);
            } else if (std::ranges::binary_search(sources, state->first.source)) {
                drawn.insert(drawn.end() - 1, {state->first, kindOf(mix, state->first)});
            }
        }
    }
    return drawn;
}

std::optional<Edit> grouped(const std::string& title, std::vector<Edit> edits)
{
    if (edits.empty()) {
        return std::nullopt;
    }
    if (edits.size() == 1) {
        return std::move(edits.front());
    }
    return EditGroup{title + " " + std::to_string(edits.size()) + " shortcuts", std::move(edits)};
}

} // namespace

std::vector<DrawnShortcut> drawnShortcuts(const DepthMix& mix, std::int64_t depth)
{
    if (isRunningSum(mix)) {
        return drawnSum(mix, depth);
    }
    std::vector<DrawnShortcut> drawn;
    for (std::int64_t target = 1; target <= depth + 1; ++target) {
        const std::vector<std::int64_t> sources = sourcesOf(mix, target, depth);
        for (const std::int64_t source : sources) {
            drawn.push_back({{source, target}, kindOf(mix, {source, target})});
        }
        // If mixes are added beside the branch, the newest entry arrives through the row of boxes, which is always
        // drawn.
        const Shortcut newest{newestEntryBefore(mix, target), target};
        if (mix.feeds == MixFeeds::LayerInput && sources.empty() && passesNewest(mix, target, depth) &&
            !hasState(mix, newest, ShortcutState::Pruned)) {
            drawn.push_back({newest, ShortcutKind::Stream});
        }
    }
    const auto read = static_cast<std::ptrdiff_t>(drawn.size());
    for (const auto& [shortcut, state] : mix.states) {
        const bool inside = shortcut.source >= 0 && shortcut.target >= 1 && shortcut.target <= depth + 1 &&
                            shortcut.source <= newestEntryBefore(mix, shortcut.target);
        if (state == ShortcutState::Pruned && inside) {
            drawn.push_back({shortcut, ShortcutKind::Pruned});
        }
    }
    std::inplace_merge(drawn.begin(), drawn.begin() + read, drawn.end(),
                       [](const auto& a, const auto& b) { return a.shortcut < b.shortcut; });
    return drawn;
}

ShortcutLookup::ShortcutLookup(const Project& project)
    : m_mix(std::get_if<DepthMix>(&project.stack().topology.wiring)), m_modules(modulesOf(project))
{
}

bool ShortcutLookup::operator()(const Shortcut& shortcut)
{
    if (m_mix == nullptr || shortcut.target < 1 || shortcut.target > m_modules + 1) {
        return false;
    }
    if (shortcut.target != m_target) {
        m_target = shortcut.target;
        m_sources = readerOf(*m_mix, m_target, m_modules).sources;
    }
    return std::binary_search(m_sources.begin(), m_sources.end(), shortcut.source) || m_mix->states.contains(shortcut);
}

Adding addingOf(const DepthMix& mix, const Shortcut& shortcut, std::int64_t modules)
{
    if (hasState(mix, shortcut, ShortcutState::Pruned)) {
        return Adding::Back;
    }
    if (!std::ranges::binary_search(sourcesOf(mix, shortcut.target, modules), shortcut.source)) {
        return Adding::New;
    }
    return mix.weight == WeightKind::Fixed && !mix.states.contains(shortcut) ? Adding::Weight : Adding::Nothing;
}

std::optional<Edit> pruneEdit(const Project& project, const std::vector<Shortcut>& shortcuts)
{
    const auto* mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
    if (mix == nullptr) {
        return std::nullopt;
    }
    const bool isExplicit = std::holds_alternative<ExplicitSources>(mix->sources);
    const bool isSum = isRunningSum(*mix);
    std::vector<Edit> edits;
    for (const Shortcut& shortcut : shortcuts) {
        if (isSum && mix->states.contains(shortcut)) {
            edits.emplace_back(SetShortcutState{shortcut, std::nullopt});
        } else if (isExplicit) {
            edits.emplace_back(RemoveShortcut{shortcut});
        } else if (!hasState(*mix, shortcut, ShortcutState::Pruned)) {
            edits.emplace_back(SetShortcutState{shortcut, ShortcutState::Pruned});
        }
    }
    return grouped("Prune", std::move(edits));
}

std::optional<Edit> addEdit(const Project& project, const std::vector<Shortcut>& shortcuts)
{
    const auto* mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
    if (mix == nullptr) {
        return std::nullopt;
    }
    std::vector<Edit> edits;
    for (const Shortcut& shortcut : shortcuts) {
        switch (addingOf(*mix, shortcut, modulesOf(project))) {
        case Adding::Nothing:
            break;
        case Adding::New:
            edits.emplace_back(AddShortcut{shortcut});
            break;
        case Adding::Back:
            edits.emplace_back(SetShortcutState{shortcut, std::nullopt});
            break;
        case Adding::Weight:
            edits.emplace_back(SetShortcutState{shortcut, ShortcutState::Learned});
            break;
        }
    }
    return grouped("Add", std::move(edits));
}

std::optional<Edit> readsEdit(const Project& project, std::int64_t target, const std::set<std::int64_t>& sources,
                              SummedMiddle middle)
{
    const auto* mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
    if (mix == nullptr) {
        return std::nullopt;
    }
    const DepthReader reader = readerOf(*mix, target, modulesOf(project));
    std::vector<Shortcut> added;
    std::vector<Shortcut> pruned;
    for (const std::int64_t source : sources) {
        if (!reader.readsAlone(source)) {
            added.push_back({source, target});
        }
    }
    for (const std::int64_t source : reader.sources) {
        // Adding to a rule makes it a list of sources, which cannot contain a sum.
        const bool dropped =
            reader.readsAlone(source) ? !sources.contains(source) : middle == SummedMiddle::Dropped && added.empty();
        if (dropped) {
            pruned.push_back({source, target});
        }
    }
    EditGroup group{"Set what layer " + moduleName(project, target) + " reads", {}};
    for (auto edit : {addEdit(project, added), pruneEdit(project, pruned)}) {
        if (edit) {
            group.edits.push_back(*std::move(edit));
        }
    }
    return group.edits.empty() ? std::nullopt : std::optional<Edit>(std::move(group));
}

std::optional<Edit> freezeEdit(const Project& project, const std::vector<Shortcut>& shortcuts,
                               const std::map<Shortcut, ShortcutState>& values)
{
    const auto* mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
    if (mix == nullptr) {
        return std::nullopt;
    }
    const bool allFrozen = std::all_of(shortcuts.begin(), shortcuts.end(), [mix](const Shortcut& shortcut) {
        return hasState(*mix, shortcut, ShortcutState::Frozen);
    });
    const bool fixed = mix->weight == WeightKind::Fixed && mix->gate.kind == GateKind::None;
    std::vector<Edit> edits;
    for (const Shortcut& shortcut : shortcuts) {
        const auto value = values.find(shortcut);
        const ShortcutState frozen = value != values.end() ? value->second : ShortcutState(ShortcutState::Frozen);
        const auto now = mix->states.find(shortcut);
        const bool hasOwn = now != mix->states.end() && now->second.hasOwnWeight();
        if (allFrozen) { // where weights are fixed, a weight of its own learns again
            edits.emplace_back(SetShortcutState{
                shortcut, fixed && hasOwn ? std::optional<ShortcutState>(ShortcutState::Learned) : std::nullopt});
        } else if (!fixed || (hasOwn && frozen.hasOwnWeight())) {
            edits.emplace_back(SetShortcutState{shortcut, frozen});
        } else if (hasOwn) {
            edits.emplace_back(SetShortcutState{shortcut, std::nullopt});
        }
    }
    return grouped(allFrozen ? "Thaw" : "Freeze", std::move(edits));
}

} // namespace residua::projects
