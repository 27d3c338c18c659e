// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/commands/selection.h"

#include "projects/depth/depth_names.h"
#include "projects/layers/shortcut_edits.h"

#include <algorithm>

namespace residua::projects {

Selection partOfStack(const Selection& selection)
{
    return {.layers = selection.layers, .shortcuts = selection.shortcuts};
}

Selection partOfGraph(const Selection& selection, const GraphRef& graph)
{
    if (selection.graph != graph) {
        return {.graph = graph};
    }
    return {.nodes = selection.nodes, .wires = selection.wires, .graph = graph};
}

Selection existing(const Project& project, Selection selection)
{
    std::erase_if(selection.layers,
                  [&](std::int64_t layer) { return layer < 0 || layer > project.network.depth() + 1; });
    ShortcutLookup isThere(project);
    std::erase_if(selection.shortcuts, [&](const Shortcut& shortcut) { return !isThere(shortcut); });
    const Graph* graph = findGraph(project, selection.graph);
    if (graph == nullptr) {
        return partOfStack(selection);
    }
    std::erase_if(selection.nodes, [&](NodeId node) { return graph->find(node) == nullptr; });
    std::erase_if(selection.wires, [&](const Wire& wire) {
        return std::find(graph->wires.begin(), graph->wires.end(), wire) == graph->wires.end();
    });
    return selection;
}

Selection wholeStack(const Project& project)
{
    Selection all;
    for (std::int64_t layer = 0; layer <= project.network.depth() + 1; ++layer) {
        all.layers.insert(layer);
    }
    const auto* mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
    const std::int64_t modules = modulesOf(project);
    if (mix == nullptr || modules > kDeepestListed) {
        return all;
    }
    for (const DrawnShortcut& each : drawnShortcuts(*mix, modules)) {
        all.shortcuts.insert(all.shortcuts.end(), each.shortcut);
    }
    return all;
}

Selection everyShortcut(const Project& project)
{
    Selection all;
    const auto* mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
    const std::int64_t modules = modulesOf(project);
    if (mix == nullptr || modules > kDeepestListed) {
        return all;
    }
    for (const DrawnShortcut& each : drawnShortcuts(*mix, modules)) {
        if (each.kind != ShortcutKind::Pruned && each.kind != ShortcutKind::Stream) {
            all.shortcuts.insert(all.shortcuts.end(), each.shortcut);
        }
    }
    return all;
}

Selection everyNode(const Project& project, const GraphRef& ref)
{
    Selection all{.graph = ref};
    if (const Graph* graph = findGraph(project, ref)) {
        for (const Node& node : graph->nodes) {
            all.nodes.insert(node.id);
        }
    }
    return all;
}

} // namespace residua::projects
