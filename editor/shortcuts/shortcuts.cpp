// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/shortcuts/shortcuts.h"

#include "projects/cost/cost.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

namespace residua::editor {
namespace {

using projects::DepthMix;
using projects::Edit;
using projects::Project;
using projects::Shortcut;
using projects::ShortcutState;

ShortcutKind kindOf(const DepthMix& mix, const Shortcut& shortcut)
{
    if (const auto found = mix.states.find(shortcut); found != mix.states.end()) {
        return found->second == ShortcutState::Pruned ? ShortcutKind::Pruned : ShortcutKind::Frozen;
    }
    return mix.weight == projects::WeightKind::Fixed ? ShortcutKind::Fixed : ShortcutKind::Learned;
}

bool hasState(const DepthMix& mix, const Shortcut& shortcut, ShortcutState state)
{
    const auto found = mix.states.find(shortcut);
    return found != mix.states.end() && found->second == state;
}

std::optional<Edit> grouped(const std::string& title, std::vector<Edit> edits)
{
    if (edits.empty()) {
        return std::nullopt;
    }
    if (edits.size() == 1) {
        return std::move(edits.front());
    }
    return projects::EditGroup{title + " " + std::to_string(edits.size()) + " shortcuts", std::move(edits)};
}

std::string inUnits(double value, const char* unit)
{
    static constexpr std::array<const char*, 5> kPrefixes{"", "k", "M", "G", "T"};
    std::size_t prefix = 0;
    while (std::abs(value) >= 1000 && prefix + 1 < kPrefixes.size()) {
        value /= 1000;
        ++prefix;
    }
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "%+.4g %s%s", value, kPrefixes[prefix], unit);
    return text.data();
}

std::vector<std::string> figuresOf(const projects::Cost& cost, const Project& project)
{
    const bool tokens = projects::isLanguage(project.data);
    return {inUnits(static_cast<double>(cost.parameters), cost.parameters < 1000 ? "parameters" : " parameters"),
            inUnits(cost.forwardFlops, tokens ? "FLOP per token" : "FLOP per sample"),
            inUnits(cost.activationBytes, "B of activations")};
}

} // namespace

std::vector<DrawnShortcut> drawnShortcuts(const DepthMix& mix, std::int64_t depth)
{
    std::vector<DrawnShortcut> drawn;
    for (std::int64_t target = 1; target <= depth + 1; ++target) {
        for (const std::int64_t source : projects::sourcesOf(mix, target, depth)) {
            drawn.push_back({{source, target}, kindOf(mix, {source, target})});
        }
    }
    const auto read = static_cast<std::ptrdiff_t>(drawn.size());
    for (const auto& [shortcut, state] : mix.states) {
        const bool inside = shortcut.source >= 0 && shortcut.source < shortcut.target && shortcut.target <= depth + 1;
        if (state == ShortcutState::Pruned && inside) {
            drawn.push_back({shortcut, ShortcutKind::Pruned});
        }
    }
    std::inplace_merge(drawn.begin(), drawn.begin() + read, drawn.end(),
                       [](const auto& a, const auto& b) { return a.shortcut < b.shortcut; });
    return drawn;
}

std::vector<std::string> portsOf(const projects::Topology& topology)
{
    const auto* mix = std::get_if<DepthMix>(&topology.wiring);
    if (mix == nullptr || mix->ports == projects::MixPorts::Input) {
        return {""};
    }
    if (mix->ports == projects::MixPorts::Qkv) {
        return {"q", "k", "v"};
    }
    return {"q", "k", "v", "residual"};
}

std::int64_t modulesPerLayer(const Project& project)
{
    const auto* mix = std::get_if<DepthMix>(&project.topology.wiring);
    return mix == nullptr ? 1 : projects::mixedModules(*mix, 1);
}

std::int64_t modulesOf(const Project& project)
{
    return project.network.depth() * modulesPerLayer(project);
}

std::string moduleName(const Project& project, std::int64_t module)
{
    if (module == modulesOf(project) + 1) {
        return "out";
    }
    if (module == 0 || modulesPerLayer(project) == 1) {
        return std::to_string(module);
    }
    return std::to_string((module + 1) / 2) + (module % 2 == 1 ? "a" : "f");
}

std::string nameOf(const Shortcut& shortcut)
{
    return std::to_string(shortcut.source) + ":" + std::to_string(shortcut.target);
}

std::optional<Edit> pruneEdit(const Project& project, const std::vector<Shortcut>& shortcuts)
{
    const auto* mix = std::get_if<DepthMix>(&project.topology.wiring);
    if (mix == nullptr) {
        return std::nullopt;
    }
    const bool isExplicit = std::holds_alternative<projects::ExplicitSources>(mix->sources);
    std::vector<Edit> edits;
    for (const Shortcut& shortcut : shortcuts) {
        if (isExplicit) {
            edits.emplace_back(projects::RemoveShortcut{shortcut});
        } else if (!hasState(*mix, shortcut, ShortcutState::Pruned)) {
            edits.emplace_back(projects::SetShortcutState{shortcut, ShortcutState::Pruned});
        }
    }
    return grouped("Prune", std::move(edits));
}

std::optional<Edit> addEdit(const Project& project, const std::vector<Shortcut>& shortcuts)
{
    const auto* mix = std::get_if<DepthMix>(&project.topology.wiring);
    if (mix == nullptr) {
        return std::nullopt;
    }
    std::vector<Edit> edits;
    for (const Shortcut& shortcut : shortcuts) {
        if (hasState(*mix, shortcut, ShortcutState::Pruned)) {
            edits.emplace_back(projects::SetShortcutState{shortcut, std::nullopt});
        } else {
            edits.emplace_back(projects::AddShortcut{shortcut});
        }
    }
    return grouped("Add", std::move(edits));
}

std::optional<Edit> freezeEdit(const Project& project, const std::vector<Shortcut>& shortcuts)
{
    const auto* mix = std::get_if<DepthMix>(&project.topology.wiring);
    if (mix == nullptr) {
        return std::nullopt;
    }
    const bool allFrozen = std::all_of(shortcuts.begin(), shortcuts.end(), [mix](const Shortcut& shortcut) {
        return hasState(*mix, shortcut, ShortcutState::Frozen);
    });
    const auto state = allFrozen ? std::nullopt : std::optional(ShortcutState::Frozen);
    std::vector<Edit> edits;
    for (const Shortcut& shortcut : shortcuts) {
        edits.emplace_back(projects::SetShortcutState{shortcut, state});
    }
    return grouped(allFrozen ? "Thaw" : "Freeze", std::move(edits));
}

CostLines costLines(const Project& project, const std::optional<projects::SoundProject>& sound,
                    const Shortcut& shortcut)
{
    if (!sound) {
        const auto* mix = std::get_if<DepthMix>(&project.topology.wiring);
        const bool possible = mix != nullptr && shortcut.target <= modulesOf(project) + (mix->finalMix ? 1 : 0);
        return {{"its cost is not known: the network has errors"}, possible};
    }
    const auto cost = projects::costOfShortcut(*sound, shortcut);
    return cost ? CostLines{figuresOf(*cost, project), true} : CostLines{{cost.error().message}, false};
}

std::string costOfChange(const Project& before, const Project& after)
{
    const auto old = projects::costOf(before);
    const auto now = projects::costOf(after);
    if (!old || !now) {
        return {};
    }
    projects::Cost added;
    added.parameters = now->total.parameters - old->total.parameters;
    added.forwardFlops = now->total.forwardFlops - old->total.forwardFlops;
    added.activationBytes = now->total.activationBytes - old->total.activationBytes;
    std::string text;
    for (const std::string& figure : figuresOf(added, after)) {
        text += (text.empty() ? "" : ", ") + figure;
    }
    return text;
}

} // namespace residua::editor
