// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/commands/commands.h"

#include "projects/depth/depth_names.h"
#include "projects/file/json.h"
#include "projects/layers/shortcut_edits.h"

#include <algorithm>
#include <utility>

namespace residua::projects {
namespace {

constexpr const char* kName = "Residua clipboard";

/// Returns the shift that moves the first source to the first selected layer.
std::int64_t shiftFor(const Project& project, const Selection& selection, const StackFragment& fragment)
{
    const auto layer = selection.layers.begin();
    if (layer == selection.layers.end() || *layer > project.network.depth()) {
        return 0;
    }
    std::int64_t first = fragment.shortcuts.front().source;
    for (const Shortcut& shortcut : fragment.shortcuts) {
        first = std::min(first, shortcut.source);
    }
    return lastModule(*layer, modulesPerLayer(project)) - first;
}

/// True if `shortcut` is in `drawn`, which is sorted, and contributes to its target.
bool isRead(const std::vector<DrawnShortcut>& drawn, const Shortcut& shortcut)
{
    const auto found = std::ranges::lower_bound(drawn, shortcut, {}, &DrawnShortcut::shortcut);
    return found != drawn.end() && found->shortcut == shortcut && found->kind != ShortcutKind::Pruned &&
           found->kind != ShortcutKind::Stream;
}

Result<Edit> pasteShortcuts(const Document& document, const Selection& selection, const StackFragment& fragment)
{
    const Project& project = document.project;
    const auto* mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
    if (mix == nullptr) {
        return Error{"clipboard",
                     "“" + project.stack().topology.preset + "” wires depth without shortcuts: none can be pasted"};
    }
    const std::int64_t shift = shiftFor(project, selection, fragment);
    const std::vector<DrawnShortcut> there = drawnShortcuts(*mix, modulesOf(project));
    ShortcutLookup isThere(project);
    Document trial = document;
    EditGroup group{"Paste shortcuts", {}};
    const auto attempt = [&](Edit edit) {
        const bool done = applyEdit(trial, edit).ok();
        if (done) {
            group.edits.push_back(std::move(edit));
        }
        return done;
    };
    for (const Shortcut& copied : fragment.shortcuts) {
        const Shortcut here{stackEntryOf(*mix, copied.source + shift), copied.target + shift};
        if (isRunningSum(*mix)) { // a running sum reads everything, so the weight is pasted
            if (isThere(here) && !mix->states.contains(here)) {
                attempt(SetShortcutState{here, ShortcutState::Learned});
            }
            continue;
        }
        const bool added = !isRead(there, here) && attempt(AddShortcut{here});
        if (const auto state = fragment.states.find(copied); added && state != fragment.states.end()) {
            attempt(SetShortcutState{here, state->second});
        }
    }
    if (group.edits.empty()) {
        return Error{"clipboard", "its shortcuts are there already or reach beyond the stack"};
    }
    return Edit{std::move(group)};
}

} // namespace

std::string toClipboard(const StackFragment& fragment)
{
    if (fragment.empty()) {
        return {};
    }
    Project project;
    project.name = kName;
    project.network.blocks = fragment.blocks;
    project.stack().segments = fragment.stack;
    project.stack().loops = fragment.loops;
    DepthMix mix;
    mix.sources = ExplicitSources{fragment.shortcuts};
    mix.states = fragment.states;
    project.stack().topology.wiring = std::move(mix);
    return toJson(project);
}

Result<StackFragment> fromClipboard(std::string_view text)
{
    auto project = projectFromJson(text);
    if (!project || project->name != kName) {
        return Error{"clipboard", "holds no layers or shortcuts: copy some first"};
    }
    StackFragment fragment;
    fragment.blocks = std::move(project->network.blocks);
    fragment.stack = std::move(project->stack().segments);
    fragment.loops = std::move(project->stack().loops);
    if (auto* mix = std::get_if<DepthMix>(&project->stack().topology.wiring)) {
        if (auto* sources = std::get_if<ExplicitSources>(&mix->sources)) {
            fragment.shortcuts = std::move(sources->shortcuts);
        }
        fragment.states = std::move(mix->states);
    }
    if (fragment.empty()) {
        return Error{"clipboard", "holds no layers or shortcuts: copy some first"};
    }
    return fragment;
}

Result<Edit> pasteEdit(const Document& document, const Selection& selection, const StackFragment& fragment)
{
    if (fragment.empty()) {
        return Error{"clipboard", "holds no layers or shortcuts: copy some first"};
    }
    if (fragment.stack.empty()) {
        return pasteShortcuts(document, selection, fragment);
    }
    const std::int64_t depth = document.project.network.depth();
    const std::int64_t after = selection.layers.empty() ? depth : std::min(*selection.layers.rbegin(), depth);
    return insertLayersEdit(document, after, fragment);
}

} // namespace residua::projects
