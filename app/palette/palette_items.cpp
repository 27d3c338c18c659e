// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/palette/palette_items.h"

#include "projects/commands/graph_commands.h"
#include "projects/layers/layer_edits.h"
#include "projects/library/presets.h"
#include "projects/library/schedule_presets.h"
#include "projects/nodes/node_kinds.h"
#include "projects/nodes/towers.h"
#include "projects/transfer/retrofit.h"

#include <QCoreApplication>

#include <algorithm>
#include <numeric>
#include <utility>

namespace residua::app {

namespace {

using projects::Project;

struct Text {
    Q_DECLARE_TR_FUNCTIONS(Palette)
};

/// A depth for listing names only. Presets depend on the depth, which is known when one is applied.
constexpr std::int64_t kAnyDepth = 2;

Result<projects::DocumentChange> takeUpTopology(const Project& project, const PaletteItem& item)
{
    for (const projects::TopologyPreset& preset : projects::topologyChoices(project.network)) {
        if (preset.name == item.key) {
            return projects::DocumentChange{projects::wireAs(project, preset).edit};
        }
    }
    return Error{item.key, "is no topology preset"};
}

std::vector<std::int64_t> layersOf(const Project& project, const Place& selection)
{
    if (const auto layers = selectionOfPlace(project, selection).layers;
        std::holds_alternative<LayersPlace>(selection) || std::holds_alternative<LoopPlace>(selection)) {
        return {layers.begin(), layers.end()};
    }
    std::vector<std::int64_t> all(static_cast<std::size_t>(project.network.depth()));
    std::iota(all.begin(), all.end(), 1);
    return all;
}

Result<projects::DocumentChange> takeUpBlock(const Project& project, const Place& selection, const PaletteItem& item)
{
    const auto preset = item.own ? std::nullopt : projects::presetBlock(item.key);
    if (!item.own && !preset) {
        return Error{item.key, "is no block preset"};
    }
    return projects::DocumentChange{projects::makeLayersOf(project.network, layersOf(project, selection),
                                                           item.own ? *item.own : projects::BlockFile{*preset, {}},
                                                           item.title.toStdString())};
}

Result<projects::DocumentChange> takeUpNode(const Project& project, const Place& selection, const PaletteItem& item)
{
    projects::GraphRef ref;
    if (const auto* graph = std::get_if<GraphPlace>(&selection)) {
        ref = graph->graph;
    } else if (const auto* node = std::get_if<NodePlace>(&selection)) {
        ref = node->graph;
    } else if (const auto* layers = std::get_if<LayersPlace>(&selection); layers && layers->layers.size() == 1) {
        const projects::Block* block = project.network.blockOfLayer(layers->layers.front());
        ref = block ? projects::GraphRef::block(block->name) : projects::GraphRef();
    }
    if (!projects::findGraph(project, ref)) {
        return Error{item.title.toStdString(),
                     "goes into a graph: select the stem, the head, a block or a layer first"};
    }
    return projects::addNode({project, {}}, {.kind = item.key, .title = {}, .summary = {}}, std::nullopt,
                             {ref, {}, std::nullopt});
}

} // namespace

std::vector<PaletteGroup> paletteGroups()
{
    std::vector<PaletteGroup> groups(2);
    groups[0].title = Text::tr("Topologies");
    for (const projects::TopologyPreset& preset : projects::topologyChoices(kAnyDepth)) {
        groups[0].items.push_back({PaletteKind::Topology, preset.name, QString::fromStdString(preset.title),
                                   QString::fromStdString(preset.summary), QString::fromStdString(preset.source)});
    }
    groups[1].title = Text::tr("Blocks");
    for (const projects::BlockPreset& preset : projects::blockPresets()) {
        groups[1].items.push_back({PaletteKind::Block,
                                   preset.name,
                                   QString::fromStdString(preset.title),
                                   QString::fromStdString(preset.summary),
                                   {}});
    }
    for (const projects::NodeKind& kind : projects::nodeKinds()) {
        const QString title = Text::tr("Nodes: %1").arg(QString::fromStdString(kind.category));
        auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& each) { return each.title == title; });
        if (group == groups.end()) {
            group = groups.insert(groups.end(), PaletteGroup{title, {}});
        }
        group->items.push_back({PaletteKind::Node,
                                kind.key,
                                QString::fromStdString(kind.title),
                                QString::fromStdString(kind.summary),
                                {}});
    }
    return groups;
}

std::vector<PaletteGroup> ownBlockGroups(const Project& project, const std::vector<projects::BlockFile>& library)
{
    std::vector<PaletteGroup> groups;
    const auto nodesOf = [](const projects::Block& block) { return static_cast<int>(block.graph.nodes.size()); };
    const auto add = [](PaletteGroup& group, const char* prefix, const QString& summary, projects::BlockFile file) {
        const QString title = QString::fromStdString(file.block.name);
        group.items.push_back({PaletteKind::Block, prefix + file.block.name, title, summary, {}, std::move(file)});
    };
    PaletteGroup inProject{Text::tr("Blocks of this project"), {}};
    for (const projects::Block& block : project.network.blocks) {
        add(inProject, "project:", Text::tr("A block of this project, %n nodes", nullptr, nodesOf(block)), {block, {}});
    }
    PaletteGroup inLibrary{Text::tr("My blocks"), {}};
    for (const projects::BlockFile& file : library) {
        add(inLibrary, "library:", Text::tr("A block of your library, %n nodes", nullptr, nodesOf(file.block)), file);
    }
    for (PaletteGroup* group : {&inProject, &inLibrary}) {
        if (!group->items.empty()) {
            groups.push_back(std::move(*group));
        }
    }
    return groups;
}

Result<projects::DocumentChange> takeUp(const Project& project, const Place& selection, const PaletteItem& item)
{
    switch (item.kind) {
    case PaletteKind::Topology:
        return takeUpTopology(project, item);
    case PaletteKind::Block:
        return takeUpBlock(project, selection, item);
    case PaletteKind::Node:
        break;
    }
    return takeUpNode(project, selection, item);
}

Result<projects::Cost> costWith(const Project& view, const Place& selection, const PaletteItem& item, std::size_t shown)
{
    const auto change = RESIDUA_TRY(takeUp(view, selection, item));
    projects::Document document{view, {}};
    RESIDUA_TRY(projects::applyEdit(document, change.edit));
    auto report = RESIDUA_TRY(projects::costOf(projects::viewOf(std::move(document.project), shown)));
    return report.total;
}

} // namespace residua::app
