// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/properties/place.h"

#include "app/properties/property.h"
#include "projects/base/json_tree.h"
#include "projects/base/ranges.h"
#include "projects/base/result.h"
#include "projects/base/text.h"
#include "projects/depth/depth_names.h"
#include "projects/layers/shortcut_edits.h"
#include "projects/nodes/example_schema.h"
#include "projects/nodes/node_kinds.h"
#include "projects/nodes/towers.h"
#include "projects/schedule/stage_schedule.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

namespace residua::app {

namespace {

using projects::Project;
using Text = PropertyText;

const std::string kLoops = "/network/loops/";
const std::string kLosses = "/losses/";

/// The keys of the sections in the order of Section.
constexpr std::array<std::string_view, 8> kSections{"data",           "network",  "topology", "schedule",
                                                    "initialisation", "training", "seeds",    "runs"};

QString titleOfSection(Section section)
{
    switch (section) {
    case Section::Data:
        return Text::tr("Data");
    case Section::Network:
        return Text::tr("Network");
    case Section::Topology:
        return Text::tr("Topology");
    case Section::Schedule:
        return Text::tr("Schedule");
    case Section::Initialisation:
        return Text::tr("Initialisation");
    case Section::Training:
        return Text::tr("Training");
    case Section::Seeds:
        return Text::tr("Seeds");
    case Section::Runs:
        return Text::tr("Runs");
    }
    return {};
}

QString titleOfGraph(const projects::GraphRef& graph)
{
    if (graph.isStem()) {
        return Text::tr("Stem");
    }
    if (graph.isHead()) {
        return Text::tr("Head");
    }
    return Text::tr("Block “%1”").arg(QString::fromStdString(graph.blockName()));
}

QString rangeText(std::int64_t first, std::int64_t last)
{
    return first == last ? Text::tr("layer %1").arg(first) : Text::tr("layers %1–%2").arg(first).arg(last);
}

QString titleOfLayers(const projects::Stack& stack, const std::vector<std::int64_t>& layers)
{
    if (layers.size() == 1) {
        return Text::tr("Layer %1").arg(QString::fromStdString(projects::layerName(stack, layers.front())));
    }
    const std::int64_t stored = layers.empty() ? 0 : stack.visitAt(layers.front()).layer;
    return layers == stack.visitsOf(stored) ? Text::tr("Layer %1, all visits").arg(stored)
                                            : Text::tr("%1 layers").arg(layers.size());
}

QString subtitleOfLoop(const projects::Stack& stack, std::size_t index)
{
    const projects::Loop& loop = stack.loops.at(index);
    if (!stack.isSound(index)) { // its numbers may be any
        return Text::tr("Is invalid and has no effect");
    }
    const std::int64_t stored = loop.last - loop.first + 1;
    return Text::tr("A pass visits %1 %2 times with the same weights: %3 stored, %4 executed")
        .arg(rangeText(loop.first, loop.last))
        .arg(loop.visits)
        .arg(stored)
        .arg(stored * loop.visits);
}

/// Returns all executed layers of a loop; empty if the loop has no effect.
std::vector<std::int64_t> layersOf(const Project& project, const LoopPlace& place)
{
    const projects::Stack& stack = project.stack();
    std::vector<std::int64_t> layers;
    if (place.loop < stack.loops.size() && stack.isSound(place.loop)) {
        const projects::Loop& loop = stack.loops[place.loop];
        layers.resize(static_cast<std::size_t>((loop.last - loop.first + 1) * loop.visits));
        std::iota(layers.begin(), layers.end(), stack.numberOf({loop.first, 1}));
    }
    return layers;
}

QString shortcutName(const projects::Shortcut& shortcut)
{
    return QString::fromStdString(nameOf(shortcut));
}

QString subtitleOfSection(const Project& project, Section section)
{
    switch (section) {
    case Section::Data:
        return projects::examplesOf(project).input().isTokens() ? Text::tr("Token sequences")
                                                                : Text::tr("Vectors with targets");
    case Section::Network:
        return project.stack().loops.empty()
                   ? Text::tr("Depth %1, width %2").arg(project.network.depth()).arg(project.stack().width)
                   : Text::tr("%1 stored and %2 executed layers, width %3")
                         .arg(project.stack().stored())
                         .arg(project.network.depth())
                         .arg(project.stack().width);
    case Section::Topology:
        return Text::tr("How depth is wired");
    case Section::Schedule:
        return projects::trainsAll(project.stack().schedule) ? Text::tr("Every layer trains at every step")
                                                             : Text::tr("Which layers train when");
    case Section::Initialisation:
        return Text::tr("How weights start");
    case Section::Training:
        return Text::tr("How it learns, and what is recorded");
    case Section::Seeds:
        return Text::tr("Every random draw comes from one of these");
    case Section::Runs:
        return Text::tr("What has been trained");
    }
    return {};
}

QString subtitleOfShortcuts(const Project& project, const ShortcutsPlace& place)
{
    if (place.shortcuts.size() != 1) {
        return {};
    }
    const projects::Shortcut& shortcut = place.shortcuts.front();
    const bool final = shortcut.target == projects::modulesOf(project) + 1;
    const QString target =
        final ? Text::tr("the final output")
              : Text::tr("layer %1").arg(QString::fromStdString(projects::moduleName(project, shortcut.target)));
    const QString source = QString::fromStdString(projects::entryName(project, shortcut.source));
    return shortcut.source == 0 ? Text::tr("From the stack's input to %1").arg(target)
                                : Text::tr("From layer %1 to %2").arg(source, target);
}

} // namespace

bool exists(const Project& project, const Place& place)
{
    const std::int64_t depth = project.network.depth();
    return std::visit(Overloaded{
                          [&](const GraphPlace& p) { return findGraph(project, p.graph) != nullptr; },
                          [&](const NodePlace& p) {
                              const projects::Graph* graph = findGraph(project, p.graph);
                              return graph && graph->find(p.node);
                          },
                          [&](const LoopPlace& p) { return p.loop < project.stack().loops.size(); },
                          [&](const LossPlace& p) { return p.loss < project.losses.size(); },
                          [&](const TowerPlace& p) { return p.tower < projects::towerCount(project); },
                          [&](const LayersPlace& p) {
                              return !p.layers.empty() &&
                                     std::all_of(p.layers.begin(), p.layers.end(),
                                                 [&](std::int64_t l) { return l >= 1 && l <= depth; });
                          },
                          [&](const ShortcutsPlace& p) {
                              return !p.shortcuts.empty() && std::all_of(p.shortcuts.begin(), p.shortcuts.end(),
                                                                         projects::ShortcutLookup(project));
                          },
                          [](const auto&) { return true; },
                      },
                      place);
}

QString titleOf(const Project& project, const Place& place)
{
    return std::visit(
        Overloaded{
            [&](const ProjectPlace&) { return QString::fromStdString(project.name); },
            [](const SectionPlace& p) { return titleOfSection(p.section); },
            [](const GraphPlace& p) { return titleOfGraph(p.graph); },
            [&](const NodePlace& p) {
                const projects::Graph* graph = findGraph(project, p.graph);
                const projects::Node* node = graph ? graph->find(p.node) : nullptr;
                return node ? QString::fromStdString(node->name) : QString();
            },
            [&](const LoopPlace& p) {
                const projects::Loop& loop = project.stack().loops.at(p.loop);
                return Text::tr("Loop of %1").arg(rangeText(loop.first, loop.last));
            },
            [&](const LossPlace& p) {
                return Text::tr("Loss “%1”").arg(QString::fromStdString(project.losses.at(p.loss).name));
            },
            [&](const TowerPlace&) { return Text::tr("Tower “%1”").arg(QString::fromStdString(project.network.name)); },
            [&](const LayersPlace& p) { return titleOfLayers(project.stack(), p.layers); },
            [](const ShortcutsPlace& p) {
                return p.shortcuts.size() == 1 ? Text::tr("Shortcut %1").arg(shortcutName(p.shortcuts.front()))
                                               : Text::tr("%1 shortcuts").arg(p.shortcuts.size());
            },
        },
        place);
}

QString subtitleOf(const Project& project, const Place& place)
{
    return std::visit(
        Overloaded{
            [&](const ProjectPlace&) { return Text::tr("The project as a whole"); },
            [&](const SectionPlace& p) { return subtitleOfSection(project, p.section); },
            [&](const GraphPlace& p) {
                const projects::Graph* graph = findGraph(project, p.graph);
                return graph ? Text::tr("%n nodes", nullptr, static_cast<int>(graph->nodes.size())) : QString();
            },
            [&](const NodePlace& p) {
                const projects::Graph* graph = findGraph(project, p.graph);
                const projects::Node* node = graph ? graph->find(p.node) : nullptr;
                const projects::NodeKind* kind = node ? projects::findNodeKind(node->kind) : nullptr;
                return kind ? QString::fromStdString(kind->title + " — " + kind->summary) : QString();
            },
            [&](const LoopPlace& p) { return subtitleOfLoop(project.stack(), p.loop); },
            [&](const LayersPlace& p) {
                const projects::Block* block =
                    p.layers.empty() ? nullptr : project.network.blockOfLayer(p.layers.front());
                const bool one = p.layers.size() == 1 ||
                                 p.layers == project.stack().visitsOf(project.stack().visitAt(p.layers.front()).layer);
                return block && one ? QString::fromStdString(block->name) : QString();
            },
            [&](const ShortcutsPlace& p) { return subtitleOfShortcuts(project, p); },
            [&](const LossPlace& p) {
                const projects::Loss& loss = project.losses.at(p.loss);
                if (!projects::hasTarget(loss.kind)) {
                    return QString::fromStdString(loss.output);
                }
                const QString target =
                    loss.target.empty() ? Text::tr("the examples' target") : QString::fromStdString(loss.target);
                return Text::tr("%1 against %2").arg(QString::fromStdString(loss.output), target);
            },
            [&](const TowerPlace&) { return towerText(project, 0); },
        },
        place);
}

std::string pointerOf(const Project& project, const NodePlace& place)
{
    const projects::Graph* const graph = findGraph(project, place.graph);
    const projects::Node* const node = graph != nullptr ? graph->find(place.node) : nullptr;
    if (node == nullptr) {
        return {};
    }
    const auto index = static_cast<std::size_t>(node - graph->nodes.data());
    return textOf(project, projects::GraphPointer{.graph = place.graph, .node = index});
}

std::string pointerOf(const LoopPlace& place)
{
    return kLoops + std::to_string(place.loop);
}

std::string pointerOf(const LossPlace& place)
{
    return kLosses + std::to_string(place.loss);
}

QString towerText(const Project& whole, std::size_t tower)
{
    const projects::Network& network = projects::towerAt(whole, tower);
    auto read = mapped<QStringList>(projects::readValues(whole, tower), QString::fromStdString);
    read.removeDuplicates();
    QString text = QString::fromStdString(network.name);
    if (!read.isEmpty()) {
        text = Text::tr("%1 → %2").arg(read.join(QStringLiteral(", ")), text);
    }
    return network.frozen ? Text::tr("%1 (frozen)").arg(text) : text;
}

std::string keyOf(Section section)
{
    return std::string(kSections[static_cast<std::size_t>(section)]);
}

Place placeOfPointer(const Project& project, const std::string& pointer)
{
    if (const auto at = projects::graphPointerFrom(project, pointer)) {
        return at->node ? Place(NodePlace{at->graph, findGraph(project, at->graph)->nodes[*at->node].id})
                        : Place(GraphPlace{at->graph});
    }
    if (pointer.starts_with(kLoops)) {
        const auto loop = numberFrom<std::size_t>(projects::tokensOf(pointer).at(2));
        if (loop && *loop < project.stack().loops.size()) {
            return LoopPlace{*loop};
        }
    }
    const std::vector<std::string> tokens = projects::tokensOf(pointer);
    if (pointer.starts_with(kLosses)) {
        const auto loss = numberFrom<std::size_t>(tokens.at(1));
        return loss && *loss < project.losses.size() ? Place(LossPlace{*loss}) : Place(ProjectPlace{});
    }
    const auto found = tokens.empty() ? kSections.end() : std::ranges::find(kSections, tokens.front());
    const auto section = static_cast<Section>(found - kSections.begin());
    return found == kSections.end() || section == Section::Runs ? Place(ProjectPlace{}) : Place(SectionPlace{section});
}

Place placeOfSelection(const Project& project, const projects::Selection& selection)
{
    if (!selection.shortcuts.empty()) {
        return ShortcutsPlace{{selection.shortcuts.begin(), selection.shortcuts.end()}};
    }
    if (selection.layers.empty() && findGraph(project, selection.graph)) {
        return selection.nodes.size() == 1 ? Place(NodePlace{selection.graph, *selection.nodes.begin()})
                                           : Place(GraphPlace{selection.graph});
    }
    const std::int64_t depth = project.network.depth();
    LayersPlace layers;
    for (const std::int64_t layer : selection.layers) {
        if (layer >= 1 && layer <= depth) {
            layers.layers.push_back(layer);
        }
    }
    for (std::size_t i = 0; !layers.layers.empty() && i < project.stack().loops.size(); ++i) {
        if (layersOf(project, LoopPlace{i}) == layers.layers) {
            return LoopPlace{i};
        }
    }
    if (!layers.layers.empty()) {
        return layers;
    }
    if (selection.layers.contains(0)) {
        return GraphPlace{projects::GraphRef::stem()};
    }
    if (selection.layers.contains(depth + 1)) {
        return GraphPlace{projects::GraphRef::head()};
    }
    return ProjectPlace{};
}

projects::Selection selectionOfPlace(const Project& project, const Place& place)
{
    projects::Selection selection;
    if (const auto* layers = std::get_if<LayersPlace>(&place)) {
        selection.layers = {layers->layers.begin(), layers->layers.end()};
    } else if (const auto* loop = std::get_if<LoopPlace>(&place)) {
        const std::vector<std::int64_t> visits = layersOf(project, *loop);
        selection.layers = {visits.begin(), visits.end()};
    } else if (const auto* shortcuts = std::get_if<ShortcutsPlace>(&place)) {
        selection.shortcuts = {shortcuts->shortcuts.begin(), shortcuts->shortcuts.end()};
    } else if (const auto* graph = std::get_if<GraphPlace>(&place)) {
        if (graph->graph.isStem()) {
            selection.layers.insert(0);
        } else if (graph->graph.isHead()) {
            selection.layers.insert(project.network.depth() + 1);
        }
        selection.graph = graph->graph;
    } else if (const auto* node = std::get_if<NodePlace>(&place)) {
        selection.nodes = {node->node};
        selection.graph = node->graph;
    }
    return selection;
}

} // namespace residua::app
