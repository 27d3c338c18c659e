// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/commands/commands.h"

#include "projects/commands/graph_commands.h"
#include "projects/depth/depth_names.h"
#include "projects/depth/depth_plan.h"
#include "projects/depth/stream_start.h"
#include "projects/layers/shortcut_edits.h"

#include <algorithm>
#include <iterator>

namespace residua::projects {
namespace {

const Error kNothing{"selection", "nothing is selected"};

bool meansGraph(const Selection& selection)
{
    return !selection.graph.empty();
}

bool isRunningSum(const Project& project)
{
    const auto* mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
    return mix != nullptr && isRunningSum(*mix);
}

/// Returns the selected shortcuts that the wiring has.
std::vector<Shortcut> shortcutsOf(const Project& project, const Selection& selection)
{
    std::vector<Shortcut> shortcuts;
    std::copy_if(selection.shortcuts.begin(), selection.shortcuts.end(), std::back_inserter(shortcuts),
                 ShortcutLookup(project));
    return shortcuts;
}

/// True if every selected shortcut has a weight of its own. In a running sum only learned shortcuts have one; a step of
/// the stream, which can also be selected on the canvas, has none.
bool hasOwnWeights(const Project& project, const Selection& selection)
{
    const auto* mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
    return !isRunningSum(project) || std::ranges::all_of(selection.shortcuts, [mix](const Shortcut& shortcut) {
        return mix->states.contains(shortcut);
    });
}

Error noShortcuts(const Project& project, const std::string& verb)
{
    return isRunningSum(project) ? Error{"topology", "“" + project.stack().topology.preset +
                                                         "” is a running sum: no shortcut " + "of it can be " + verb}
                                 : Error{"selection", "no shortcut that can be " + verb + " is selected"};
}

} // namespace

Result<DocumentChange> deleteSelection(const Document& document, const Selection& selection, const GraphView& seen)
{
    if (meansGraph(selection)) {
        return deleteNodes(document, selection, seen);
    }
    if (!selection.shortcuts.empty()) {
        return hasOwnWeights(document.project, selection) ? pruneShortcuts(document, selection)
                                                          : noShortcuts(document.project, "pruned");
    }
    if (auto edit = removeLayersEdit(document, selection.layers)) {
        return DocumentChange{*std::move(edit), Selection{}};
    }
    return kNothing;
}

Result<DocumentChange> addShortcuts(const Document& document, const std::set<Shortcut>& shortcuts)
{
    if (auto edit = addEdit(document.project, {shortcuts.begin(), shortcuts.end()})) {
        return DocumentChange{*std::move(edit), Selection{.shortcuts = shortcuts}};
    }
    return Error{"topology", "there is no shortcut to add that the wiring does not have"};
}

Result<DocumentChange> pruneShortcuts(const Document& document, const Selection& selection)
{
    if (auto edit = pruneEdit(document.project, shortcutsOf(document.project, selection))) {
        return DocumentChange{*std::move(edit), Selection{}};
    }
    return Error{"selection", "no shortcut that can be pruned is selected"};
}

Result<DocumentChange> toggleFrozen(const Document& document, const Selection& selection,
                                    const std::map<Shortcut, ShortcutState>& values)
{
    if (auto edit = freezeEdit(document.project, shortcutsOf(document.project, selection), values)) {
        return DocumentChange{*std::move(edit)};
    }
    return noShortcuts(document.project, "frozen");
}

Result<DocumentChange> freezeAtStart(const Document& document, const Selection& selection)
{
    const Project& project = document.project;
    const auto* const mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
    EditGroup group{"Freeze at the start's value", {}};
    for (const Shortcut& shortcut : mix != nullptr ? shortcutsOf(project, selection) : std::vector<Shortcut>()) {
        if (hasOwnWeight(*mix, shortcut)) {
            DepthMix unheld = *mix;
            unheld.states.erase(shortcut);
            const DepthReader reader = readerOf(unheld, shortcut.target, modulesOf(project));
            const double start = startOf(unheld, reader, shortcut.source);
            group.edits.emplace_back(SetShortcutState{shortcut, ShortcutState::frozenAt(start)});
        }
    }
    return group.edits.empty() ? Result<DocumentChange>(noShortcuts(project, "frozen"))
                               : DocumentChange{Edit(std::move(group))};
}

Result<DocumentChange> setShortcutState(const Project& project, const Selection& selection,
                                        std::optional<ShortcutState> state)
{
    const auto* mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
    std::vector<Shortcut> shortcuts = shortcutsOf(project, selection);
    if (mix == nullptr || shortcuts.empty()) {
        return kNothing;
    }
    if (state == ShortcutState::Pruned || (state == ShortcutState::Frozen && !state->hasOwnWeight())) {
        std::erase_if(shortcuts, [&](const Shortcut& shortcut) { return hasState(*mix, shortcut, state->kind); });
        const bool prunes = state == ShortcutState::Pruned;
        const bool possible = !shortcuts.empty() && (!prunes || hasOwnWeights(project, selection));
        auto edit = !possible ? std::nullopt : prunes ? pruneEdit(project, shortcuts) : freezeEdit(project, shortcuts);
        return edit ? Result<DocumentChange>(DocumentChange{*std::move(edit)})
                    : noShortcuts(project, prunes ? "pruned" : "frozen");
    }
    EditGroup group{"Set the state of " + std::to_string(shortcuts.size()) + " shortcuts", {}};
    for (const Shortcut& shortcut : shortcuts) {
        group.edits.emplace_back(SetShortcutState{shortcut, state});
    }
    return DocumentChange{group.edits.size() == 1 ? Edit(group.edits.front()) : Edit(std::move(group))};
}

std::string copied(const Document& document, const Selection& selection, const GraphView& seen)
{
    return meansGraph(selection) ? copiedNodes(document, selection, seen)
                                 : toClipboard(fragmentOf(document.project, selection.layers, selection.shortcuts));
}

Result<DocumentChange> paste(const Document& document, const Selection& selection, std::string_view text,
                             const GraphView& seen)
{
    if (meansGraph(selection)) {
        return pasteNodes(document, text, seen);
    }
    const auto fragment = RESIDUA_TRY(fromClipboard(text));
    auto edit = RESIDUA_TRY(pasteEdit(document, selection, fragment));
    return DocumentChange{std::move(edit)};
}

Result<DocumentChange> duplicateSelection(const Document& document, const Selection& selection, const GraphView& seen)
{
    if (meansGraph(selection)) {
        return duplicateNodes(document, selection, seen);
    }
    const StackFragment fragment = fragmentOf(document.project, selection.layers, selection.shortcuts);
    if (fragment.empty()) {
        return kNothing;
    }
    Selection where = selection;
    if (fragment.stack.empty()) {
        // Moved by one layer, because at the same place they exist already.
        std::int64_t first = fragment.shortcuts.front().source;
        for (const Shortcut& shortcut : fragment.shortcuts) {
            first = std::min(first, shortcut.source);
        }
        const std::int64_t each = modulesPerLayer(document.project);
        where.layers = {layerOf(first, each) + 1};
    }
    auto edit = RESIDUA_TRY(pasteEdit(document, where, fragment));
    return DocumentChange{std::move(edit)};
}

Result<DocumentChange> ungroupLayers(const Document& document, const Selection& selection)
{
    if (auto edit = ungroupEdit(document, selection.layers)) {
        return DocumentChange{*std::move(edit)};
    }
    return Error{"selection", "no layer of a group is selected"};
}

} // namespace residua::projects
