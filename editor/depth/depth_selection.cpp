// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/depth/depth_selection.h"

#include <algorithm>
#include <ranges>
#include <vector>

namespace residua::editor {
namespace {

// Deselects `values` if all of them are selected, else selects them all.
template <class Set, class Values>
void toggle(Set& set, const Values& values)
{
    const bool all = std::ranges::all_of(values, [&set](const auto& value) { return set.contains(value); });
    for (const auto& value : values) {
        all ? static_cast<void>(set.erase(value)) : static_cast<void>(set.insert(value));
    }
}

} // namespace

projects::Selection clicked(const DepthScene& scene, const projects::Selection& selection, const Hit& hit, Pick pick)
{
    projects::Selection chosen = pick == Pick::Additive ? selection : projects::Selection{};
    if (hit.kind == Hit::Kind::Layer || hit.kind == Hit::Kind::Handle) {
        toggle(chosen.layers, scene.box(hit.module)->layers());
    } else if (hit.kind == Hit::Kind::Group) {
        const projects::LayerGroup& group = scene.brackets()[hit.group].group;
        toggle(chosen.layers, std::views::iota(group.first, group.last + 1));
    } else if (hit.kind == Hit::Kind::Loop) {
        const LoopBracket& loop = scene.loops()[hit.group];
        toggle(chosen.layers, std::views::iota(loop.first, loop.last + 1));
    } else if (const Arc* arc = hit.kind == Hit::Kind::Shortcut ? scene.arc(hit.shortcut) : nullptr) {
        toggle(chosen.shortcuts, scene.members(*arc));
    }
    return chosen;
}

projects::Selection pointedAt(const DepthScene& scene, const projects::Selection& selection, const Hit& hit)
{
    projects::Selection alone = clicked(scene, {}, hit, Pick::Alone);
    const bool part = !alone.empty() && std::ranges::includes(selection.layers, alone.layers) &&
                      std::ranges::includes(selection.shortcuts, alone.shortcuts);
    return part ? selection : alone;
}

projects::Selection boxed(const DepthScene& scene, const projects::Selection& selection, const Rect& area, Pick pick)
{
    projects::Selection chosen = pick == Pick::Additive ? selection : projects::Selection{};
    const auto layers = scene.layersIn(area);
    const auto shortcuts = scene.shortcutsIn(area);
    chosen.layers.insert(layers.begin(), layers.end());
    chosen.shortcuts.insert(shortcuts.begin(), shortcuts.end());
    return chosen;
}

projects::Selection layerBeside(const DepthScene& scene, const projects::Selection& selection, std::int64_t by,
                                Step step)
{
    const std::int64_t head = scene.layers() + 1;
    const auto& row = scene.boxes();
    const auto selected = [&selection](const LayerBox& box) { return box.holdsOneOf(selection.layers); };
    const auto first = std::ranges::find_if(row, selected);
    std::int64_t next = by < 0 ? head : 0;
    if (first != row.end()) { // by boxes, because a folded loop has its later layers further left
        const auto last = std::find_if(row.rbegin(), row.rend(), selected);
        next = by < 0 ? (first == row.begin() ? *first : *std::prev(first)).layer
                      : (last == row.rbegin() ? *last : *std::prev(last)).layer;
    }
    projects::Selection chosen = step == Step::Extend ? selection : projects::Selection{};
    const std::vector<std::int64_t> layers = scene.boxesOf(next).front().layers();
    chosen.layers.insert(layers.begin(), layers.end());
    return chosen;
}

projects::Selection shortcutBeside(const DepthScene& scene, const projects::Selection& selection, std::ptrdiff_t by)
{
    const auto& shortcuts = selection.shortcuts;
    const LayerBox* box = nullptr;
    if (!shortcuts.empty()) {
        box = scene.box(shortcuts.rbegin()->target);
    } else if (!selection.layers.empty()) {
        const auto boxes = scene.boxesOf(*selection.layers.rbegin());
        box = boxes.empty() ? nullptr : &boxes.back();
    }
    if (box == nullptr) {
        return selection;
    }
    std::vector<const Arc*> into; // shortest first, as in the scene
    std::ptrdiff_t at = -1;
    for (const Arc& arc : scene.arcs()) {
        if (scene.box(arc.shortcut.target) == box) {
            at = shortcuts.contains(arc.shortcut) ? static_cast<std::ptrdiff_t>(into.size()) : at;
            into.push_back(&arc);
        }
    }
    at = std::clamp(at + by, std::ptrdiff_t{-1}, static_cast<std::ptrdiff_t>(into.size()) - 1);
    projects::Selection chosen;
    if (at < 0) {
        chosen.layers.insert(box->layer);
    } else {
        const auto members = scene.members(*into[static_cast<std::size_t>(at)]);
        chosen.shortcuts.insert(members.begin(), members.end());
    }
    return chosen;
}

} // namespace residua::editor
