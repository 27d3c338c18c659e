// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/depth/depth_selection.h"

#include <algorithm>
#include <ranges>
#include <span>
#include <utility>
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
    const auto toggleLayers = [&chosen](std::int64_t first, std::int64_t last) {
        toggle(chosen.layers, std::views::iota(first, last + 1));
    };
    if (hit.kind == Hit::Kind::Layer || hit.kind == Hit::Kind::Handle) {
        const LayerBox* box = scene.box(hit.module);
        toggleLayers(box->layer, box->lastLayer);
    } else if (hit.kind == Hit::Kind::Group) {
        const projects::LayerGroup& group = scene.brackets()[hit.group].group;
        toggleLayers(group.first, group.last);
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
    const auto& layers = selection.layers;
    std::int64_t next = by < 0 ? head : 0;
    if (!layers.empty()) {
        const auto boxes =
            scene.boxesOf(std::clamp(by < 0 ? *layers.begin() : *layers.rbegin(), std::int64_t{0}, head));
        next = std::clamp(by < 0 ? boxes.front().layer - 1 : boxes.back().lastLayer + 1, std::int64_t{0}, head);
    }
    projects::Selection chosen = step == Step::Extend ? selection : projects::Selection{};
    const auto reached = scene.boxesOf(next);
    for (std::int64_t layer = reached.front().layer; layer <= reached.back().lastLayer; ++layer) {
        chosen.layers.insert(layer);
    }
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
