// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/outline/outline_tree.h"

#include "app/look/format.h"
#include "app/properties/customisation.h"
#include "engine/runs/results/run_reader.h"
#include "projects/depth/depth_names.h"
#include "projects/depth/depth_plan.h"
#include "projects/layers/layer_edits.h"
#include "projects/nodes/node_kinds.h"
#include "projects/nodes/towers.h"

#include <QCoreApplication>

#include <algorithm>
#include <set>
#include <utility>

namespace residua::app {

namespace {

using projects::DepthMix;
using projects::Project;

struct Text {
    Q_DECLARE_TR_FUNCTIONS(Outline)
};

OutlineRow rowOf(std::string key, QString name, const char* icon, Place place)
{
    OutlineRow row;
    row.key = std::move(key);
    row.name = std::move(name);
    row.icon = QString::fromLatin1(icon);
    row.place = std::move(place);
    return row;
}

constexpr const char* kNetwork = "network";
constexpr const char* kLayers = "layers";
constexpr const char* kGroups = "groups";
constexpr const char* kLoops = "loops";
constexpr const char* kOutput = "output";
constexpr const char* kLosses = "losses";
constexpr const char* kTowers = "towers";

std::string keyOf(projects::NodeId node)
{
    return "node:" + std::to_string(static_cast<std::uint32_t>(node));
}

std::string layerKey(std::int64_t layer)
{
    return "layer:" + std::to_string(layer);
}

std::string moduleKey(std::int64_t module)
{
    return "module:" + std::to_string(module);
}

std::string sourceKey(const projects::Shortcut& shortcut)
{
    return "shortcut:" + std::to_string(shortcut.source);
}

OutlineRow propertyRow(Property property, const Place& place)
{
    OutlineRow row = rowOf("property:" + property.key, property.title, "property", place);
    row.value = property.valueText();
    row.toolTip = property.toolTip();
    row.property = std::move(property);
    return row;
}

/// Returns the properties of a place as rows.
std::vector<OutlineRow> propertyRows(const Project& project, const Place& place)
{
    std::vector<OutlineRow> rows;
    for (Property& property : propertiesOf(project, place)) {
        if (property.key.starts_with(kMixtureParts)) { // no heading tells which part it belongs to
            property.title = Text::tr("%1 · %2").arg(property.group, property.title);
        }
        rows.push_back(propertyRow(std::move(property), place));
    }
    return rows;
}

OutlineRow sectionRow(const DocumentSnapshot& document, Section section, const char* icon)
{
    const Place place = SectionPlace{section};
    OutlineRow row = rowOf(keyOf(section), titleOf(document->project, place), icon, place);
    row.toolTip = subtitleOf(document->project, place);
    row.children = [document, place] { return propertyRows(document->project, place); };
    return row;
}

/// Returns the value of one property, for the section's own row.
QString shownValue(const Project& project, Section section, const std::string& key)
{
    const std::vector<Property> properties = propertiesOf(project, SectionPlace{section});
    const auto found = std::ranges::find(properties, key, &Property::key);
    return found == properties.end() ? QString() : found->valueText();
}

OutlineRow nodeRow(const DocumentSnapshot& document, const projects::GraphRef& ref, const projects::Node& node)
{
    const Place place = NodePlace{ref, node.id};
    OutlineRow row = rowOf(keyOf(node.id), QString::fromStdString(node.name), "node", place);
    const projects::NodeKind* kind = projects::findNodeKind(node.kind);
    row.value = QString::fromStdString(kind ? kind->title : node.kind);
    row.toolTip = subtitleOf(document->project, place);
    row.children = [document, place] { return propertyRows(document->project, place); };
    return row;
}

OutlineRow graphRow(const DocumentSnapshot& document, const projects::GraphRef& ref)
{
    const bool block = ref.isBlock();
    const Place place = GraphPlace{ref};
    OutlineRow row = rowOf(textOf(ref), titleOf(document->project, place), block ? "block" : "graph", place);
    const projects::Graph* graph = findGraph(document->project, ref);
    if (graph && (!graph->nodes.empty() || block)) {
        row.children = [document, place, ref, graph] {
            std::vector<OutlineRow> rows = propertyRows(document->project, place);
            for (const projects::Node& node : graph->nodes) {
                rows.push_back(nodeRow(document, ref, node));
            }
            return rows;
        };
    }
    return row;
}

OutlineRow shortcutRow(const Project& project, const projects::Shortcut& shortcut)
{
    const ShortcutsPlace place{{shortcut}};
    OutlineRow row = rowOf(sourceKey(shortcut), QString::fromStdString(nameOf(shortcut)), "shortcut", place);
    std::vector<Property> properties = shortcutsProperties(project, place);
    row.value = properties.front().valueText();
    row.property = std::move(properties.front());
    row.toolTip = subtitleOf(project, place);
    row.shortcut = shortcut;
    return row;
}

/// Returns the row of the newest entry if the reader passes it through.
OutlineRow passingRow(const projects::Shortcut& shortcut, const Place& reader)
{
    OutlineRow row = rowOf("newest", QString::fromStdString(nameOf(shortcut)), "shortcut", reader);
    row.value = Text::tr("as it is");
    row.toolTip = Text::tr("The newest entry, read without a weight");
    return row;
}

/// Returns the rows of a target's sources, and of its pruned shortcuts, which can be restored. `reader` is its place.
std::vector<OutlineRow> shortcutRows(const Project& project, std::int64_t target, const Place& reader)
{
    const auto* const mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
    if (mix == nullptr) {
        return {};
    }
    const projects::DepthReader read = readerOf(*mix, target, projects::modulesOf(project));
    std::set<projects::Shortcut> shortcuts;
    for (const std::int64_t source : read.sources) {
        shortcuts.insert(shortcuts.end(), {source, target});
    }
    for (auto state = mix->states.lower_bound({0, target}); state != mix->states.end() && state->first.target == target;
         ++state) {
        if (state->second == projects::ShortcutState::Pruned) {
            shortcuts.insert(state->first);
        }
    }
    std::vector<OutlineRow> rows;
    for (const projects::Shortcut& shortcut : shortcuts) {
        rows.push_back(shortcutRow(project, shortcut));
        if (read.middle && read.middle->first == shortcut.source) {
            const auto [first, last] = *read.middle;
            rows.back().name = Text::tr("%1–%2:%3").arg(first).arg(last).arg(target);
            rows.back().toolTip = Text::tr("The sum of entries %1 to %2").arg(first).arg(last);
        }
    }
    if (read.passes) {
        rows.push_back(passingRow({newestEntryBefore(*mix, target), target}, reader));
    }
    return rows;
}

/// True if shortcutRows() has rows. Does not make the rows' properties.
bool hasShortcutRows(const Project& project, std::int64_t target)
{
    const auto* const mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
    if (mix == nullptr) {
        return false;
    }
    const std::int64_t modules = projects::modulesOf(project);
    const projects::DepthReader read = readerOf(*mix, target, modules, projects::Pruned::Counted);
    return !read.sources.empty() || read.passes;
}

/// Returns the row of half of a layer, if both halves have mixes.
OutlineRow halfRow(const DocumentSnapshot& document, std::int64_t layer, std::int64_t module)
{
    const QString name = QString::fromStdString(projects::moduleName(document->project, module));
    const Place place = LayersPlace{{layer}};
    const auto part = projects::partOf(module, projects::modulesPerLayer(document->project));
    OutlineRow half = rowOf(moduleKey(module),
                            part == projects::LayerPart::Attention ? Text::tr("%1, after attention").arg(name)
                                                                   : Text::tr("%1, after the FFN").arg(name),
                            "layer", place);
    if (hasShortcutRows(document->project, module)) {
        half.children = [document, module, place] { return shortcutRows(document->project, module, place); };
    }
    return half;
}

/// Returns the rows of a layer's properties, then those of its sources.
std::vector<OutlineRow> rowsOfLayer(const DocumentSnapshot& document, std::int64_t layer)
{
    const Project& project = document->project;
    std::vector<OutlineRow> rows = propertyRows(project, LayersPlace{{layer}});
    const std::int64_t each = projects::modulesPerLayer(project);
    if (each == 1) {
        for (OutlineRow& row : shortcutRows(project, layer, LayersPlace{{layer}})) {
            rows.push_back(std::move(row));
        }
    } else {
        rows.push_back(halfRow(document, layer, projects::firstModule(layer, each)));
        rows.push_back(halfRow(document, layer, projects::lastModule(layer, each)));
    }
    return rows;
}

std::vector<OutlineRow> layerRows(const DocumentSnapshot& document)
{
    const Project& project = document->project;
    std::vector<OutlineRow> rows;
    for (std::int64_t layer = 1; layer <= project.network.depth(); ++layer) {
        const LayersPlace place{{layer}};
        OutlineRow row = rowOf(layerKey(layer), titleOf(project, place), "layer", place);
        row.value = subtitleOf(project, place);
        row.children = [document, layer] { return rowsOfLayer(document, layer); };
        rows.push_back(std::move(row));
    }
    const std::int64_t last = projects::modulesOf(project) + 1;
    if (hasShortcutRows(project, last)) {
        const Place head = GraphPlace{projects::GraphRef::head()};
        OutlineRow output = rowOf(kOutput, Text::tr("Final output"), "layer", head);
        output.children = [document, last, head] { return shortcutRows(document->project, last, head); };
        rows.push_back(std::move(output));
    }
    return rows;
}

/// Returns the rows of a named range of layers.
std::vector<OutlineRow> rowsOfGroup(const std::vector<projects::LayerGroup>& groups, std::size_t at, const Place& place)
{
    const projects::LayerGroup& group = groups[at];
    const auto property = [&](const char* key, const QString& title, const QVariant& value, auto set) {
        Property made;
        made.key = key;
        made.title = title;
        made.kind = value.typeId() == QMetaType::QString ? PropertyKind::Text : PropertyKind::Integer;
        made.value = value;
        made.range = projects::Range::atLeast(1);
        made.edit = [groups, at, set](const Project&, const QVariant& given) -> Result<projects::Edit> {
            projects::LayerGroup changed = groups[at];
            set(changed, given);
            return projects::changeGroupEdit(groups, at, std::move(changed));
        };
        return propertyRow(std::move(made), place);
    };
    using projects::LayerGroup;
    return {property("name", Text::tr("Name"), QString::fromStdString(group.name),
                     [](LayerGroup& g, const QVariant& given) { g.name = given.toString().toStdString(); }),
            property("first", Text::tr("First layer"), static_cast<qlonglong>(group.first),
                     [](LayerGroup& g, const QVariant& given) { g.first = given.toLongLong(); }),
            property("last", Text::tr("Last layer"), static_cast<qlonglong>(group.last),
                     [](LayerGroup& g, const QVariant& given) { g.last = given.toLongLong(); })};
}

/// Returns the existing layers of a named range.
LayersPlace placeOf(const projects::LayerGroup& group, std::int64_t depth)
{
    LayersPlace place;
    for (std::int64_t layer = std::max<std::int64_t>(group.first, 1); layer <= std::min(group.last, depth); ++layer) {
        place.layers.push_back(layer);
    }
    return place;
}

std::vector<OutlineRow> groupRows(const DocumentSnapshot& document)
{
    std::vector<OutlineRow> rows;
    const std::vector<projects::LayerGroup>& groups = document->layout.groups;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        OutlineRow row = rowOf("group:" + std::to_string(i), QString::fromStdString(groups[i].name), "layer",
                               placeOf(groups[i], document->project.network.depth()));
        const auto named = [&document](std::int64_t layer) {
            return QString::fromStdString(projects::layerName(document->project.stack(), layer));
        };
        row.value = Text::tr("layers %1–%2").arg(named(groups[i].first), named(groups[i].last));
        row.children = [document, i, place = row.place] { return rowsOfGroup(document->layout.groups, i, place); };
        rows.push_back(std::move(row));
    }
    return rows;
}

std::string loopKey(std::size_t loop)
{
    return "loop:" + std::to_string(loop);
}

std::vector<OutlineRow> loopRows(const DocumentSnapshot& document)
{
    std::vector<OutlineRow> rows;
    const std::vector<projects::Loop>& loops = document->project.stack().loops;
    for (std::size_t i = 0; i < loops.size(); ++i) {
        const Place place = LoopPlace{i};
        OutlineRow row = rowOf(loopKey(i), titleOf(document->project, place), "layer", place);
        row.value = Text::tr("×%1").arg(loops[i].visits);
        row.toolTip = subtitleOf(document->project, place);
        row.children = [document, place] { return propertyRows(document->project, place); };
        rows.push_back(std::move(row));
    }
    return rows;
}

OutlineRow networkRow(const DocumentSnapshot& document)
{
    const projects::Network& network = document->project.network;
    OutlineRow row = sectionRow(document, Section::Network, "network");
    row.value = Text::tr("depth %1").arg(network.depth());
    row.children = [document, &network] {
        const Place place = SectionPlace{Section::Network};
        std::vector<OutlineRow> rows = propertyRows(document->project, place);
        rows.push_back(graphRow(document, projects::GraphRef::stem()));
        OutlineRow layers = rowOf(kLayers, Text::tr("Layers"), "network", place);
        layers.value = network.stack().loops.empty()
                           ? QString::number(network.depth())
                           : Text::tr("%1 stored, %2 executed").arg(network.stack().stored()).arg(network.depth());
        if (network.depth() > 0) {
            layers.children = [document] { return layerRows(document); };
        }
        rows.push_back(std::move(layers));
        if (!network.stack().loops.empty()) {
            OutlineRow loops = rowOf(kLoops, Text::tr("Loops"), "network", place);
            loops.value = QString::number(network.stack().loops.size());
            loops.children = [document] { return loopRows(document); };
            rows.push_back(std::move(loops));
        }
        if (!document->layout.groups.empty()) {
            OutlineRow groups = rowOf(kGroups, Text::tr("Named layers"), "network", place);
            groups.value = QString::number(document->layout.groups.size());
            groups.children = [document] { return groupRows(document); };
            rows.push_back(std::move(groups));
        }
        for (const projects::Block& block : network.blocks) {
            rows.push_back(graphRow(document, projects::GraphRef::block(block.name)));
        }
        rows.push_back(graphRow(document, projects::GraphRef::head()));
        return rows;
    };
    return row;
}

std::string towerKey(std::size_t tower)
{
    return "tower:" + std::to_string(tower);
}

/// Returns the row of the towers, in the order in which they run.
OutlineRow towersRow(const DocumentSnapshot& document, std::size_t shown)
{
    OutlineRow row = rowOf(kTowers, Text::tr("Towers"), "network", ProjectPlace{});
    row.value = QString::number(projects::towerCount(document->project));
    row.children = [document, shown] {
        std::vector<OutlineRow> rows;
        const Project whole = projects::viewOf(document->project, shown);
        for (const std::size_t index : shownOrder(whole)) {
            const std::string& name = projects::towerAt(whole, index).name;
            rows.push_back(rowOf(towerKey(index), QString::fromStdString(name), "network", TowerPlace{index}));
            rows.back().toolTip = towerText(whole, index);
            rows.back().value = index == shown ? Text::tr("shown") : QString();
        }
        return rows;
    };
    return row;
}

std::string lossKey(std::size_t loss)
{
    return "loss:" + std::to_string(loss);
}

OutlineRow lossesRow(const DocumentSnapshot& document)
{
    OutlineRow row = rowOf(kLosses, Text::tr("Losses"), "training", ProjectPlace{});
    row.value = QString::number(document->project.losses.size());
    row.children = [document] {
        std::vector<OutlineRow> rows;
        for (std::size_t i = 0; i < document->project.losses.size(); ++i) {
            const Place place = LossPlace{i};
            rows.push_back(rowOf(lossKey(i), titleOf(document->project, place), "training", place));
            rows.back().value = subtitleOf(document->project, place);
            rows.back().children = [document, place] { return propertyRows(document->project, place); };
        }
        return rows;
    };
    return row;
}

/// Returns the rows of the changes since the preset was chosen.
std::vector<OutlineRow> differenceRows(const Project& project)
{
    std::vector<OutlineRow> rows;
    const std::optional<Customisation> custom = customisationOf(project);
    for (std::size_t i = 0; custom && i < custom->changes.size(); ++i) {
        const projects::Change& change = custom->changes[i];
        OutlineRow line = rowOf("difference:" + std::to_string(i), QString::fromStdString(change.placeText()),
                                "property", SectionPlace{Section::Topology});
        line.value = change.kind == projects::ChangeKind::Removed
                         ? Text::tr("without %1").arg(QString::fromStdString(change.before))
                         : QString::fromStdString(change.after);
        line.toolTip = QString::fromStdString(change.text());
        rows.push_back(std::move(line));
    }
    return rows;
}

/// Returns the row of the topology, whose last child lists the differences from the preset. The first change of a
/// preset moves no other row.
OutlineRow topologyRow(const DocumentSnapshot& document)
{
    OutlineRow row = sectionRow(document, Section::Topology, "topology");
    const auto preset = customisedPreset(document->project);
    if (!preset) {
        row.value = shownValue(document->project, Section::Topology, "preset");
        return row;
    }
    row.value = customTitle(QString::fromStdString(preset->title));
    row.children = [document, properties = row.children] {
        std::vector<OutlineRow> rows = properties();
        OutlineRow differences =
            rowOf("differences", Text::tr("Differences"), "property", SectionPlace{Section::Topology});
        differences.children = [document] { return differenceRows(document->project); };
        rows.push_back(std::move(differences));
        return rows;
    };
    return row;
}

OutlineRow runsRow(const DocumentSnapshot& document, const std::vector<engine::RunInfo>& runs)
{
    OutlineRow row = sectionRow(document, Section::Runs, "runs");
    row.value = runs.empty() ? QString() : QString::number(runs.size());
    if (runs.empty()) {
        row.children = nullptr;
        return row;
    }
    row.children = [runs, place = row.place] {
        std::vector<OutlineRow> rows;
        for (const engine::RunInfo& run : runs) {
            OutlineRow child = rowOf("run:" + run.directory, QString::fromStdString(run.name), "training", place);
            child.value = QStringLiteral("%1, %2/%3")
                              .arg(QString::fromStdString(engine::textOf(run.status)), formatWhole(run.step),
                                   formatWhole(run.steps));
            child.toolTip = QString::fromStdString(run.message.empty() ? run.directory : run.message);
            rows.push_back(std::move(child));
        }
        return rows;
    };
    return row;
}

std::vector<std::string> pathOf(const projects::Document& document, const LayersPlace& place)
{
    if (place.layers.size() == 1) {
        return {kNetwork, kLayers, layerKey(place.layers.front())};
    }
    const auto& groups = document.layout.groups;
    const std::int64_t depth = document.project.network.depth();
    const auto group = std::ranges::find_if(groups, [&](const auto& g) { return placeOf(g, depth) == place; });
    return group == groups.end()
               ? std::vector<std::string>()
               : std::vector<std::string>{kNetwork, kGroups, "group:" + std::to_string(group - groups.begin())};
}

std::vector<std::string> pathOf(const Project& project, const projects::Shortcut& shortcut)
{
    const std::int64_t each = projects::modulesPerLayer(project);
    if (shortcut.target > projects::modulesOf(project)) {
        return {kNetwork, kLayers, kOutput, sourceKey(shortcut)};
    }
    std::vector<std::string> path{kNetwork, kLayers, layerKey(projects::layerOf(shortcut.target, each))};
    if (each > 1) {
        path.push_back(moduleKey(shortcut.target));
    }
    path.push_back(sourceKey(shortcut));
    return path;
}

} // namespace

std::vector<std::string> outlinePath(const projects::Document& document, const Place& place)
{
    if (const auto* section = std::get_if<SectionPlace>(&place)) {
        return {keyOf(section->section)};
    }
    if (const auto* graph = std::get_if<GraphPlace>(&place)) {
        return {kNetwork, textOf(graph->graph)};
    }
    if (const auto* node = std::get_if<NodePlace>(&place)) {
        return {kNetwork, textOf(node->graph), keyOf(node->node)};
    }
    if (const auto* loop = std::get_if<LoopPlace>(&place)) {
        return {kNetwork, kLoops, loopKey(loop->loop)};
    }
    if (const auto* tower = std::get_if<TowerPlace>(&place)) {
        return {kTowers, towerKey(tower->tower)};
    }
    if (const auto* loss = std::get_if<LossPlace>(&place)) {
        return {kLosses, lossKey(loss->loss)};
    }
    if (const auto* layers = std::get_if<LayersPlace>(&place)) {
        return pathOf(document, *layers);
    }
    if (const auto* shortcuts = std::get_if<ShortcutsPlace>(&place); shortcuts && shortcuts->shortcuts.size() == 1) {
        return pathOf(document.project, shortcuts->shortcuts.front());
    }
    return {};
}

std::vector<OutlineRow> outlineOf(const DocumentSnapshot& document, const std::vector<engine::RunInfo>& runs,
                                  std::size_t shown)
{
    const Project& project = document->project;
    std::vector<OutlineRow> rows;
    rows.push_back(sectionRow(document, Section::Data, "data"));
    rows.back().value = shownValue(project, Section::Data, "/data/source/kind");
    if (!project.towers.empty()) {
        rows.push_back(towersRow(document, shown));
    }
    rows.push_back(networkRow(document));
    rows.push_back(topologyRow(document));
    rows.push_back(sectionRow(document, Section::Schedule, "stages"));
    rows.back().value = project.stack().schedule.course == projects::DropCourse::Curve ? Text::tr("a curve")
                        : project.stack().schedule.stages.empty()
                            ? Text::tr("none")
                            : QString::number(project.stack().schedule.stages.size());
    rows.push_back(sectionRow(document, Section::Initialisation, "initialisation"));
    rows.back().value = shownValue(project, Section::Initialisation, "/initialisation/law");
    rows.push_back(sectionRow(document, Section::Training, "training"));
    rows.back().value = shownValue(project, Section::Training, "/training/steps");
    if (!project.losses.empty()) {
        rows.push_back(lossesRow(document));
    }
    rows.push_back(sectionRow(document, Section::Seeds, "seeds"));
    rows.push_back(runsRow(document, runs));
    return rows;
}

} // namespace residua::app
