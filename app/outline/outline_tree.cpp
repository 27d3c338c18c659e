// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/outline/outline_tree.h"

#include "app/look/format.h"
#include "app/properties/customisation.h"
#include "editor/shortcuts.h"
#include "engine/api/run_reader.h"
#include "projects/node_kinds.h"

#include <QCoreApplication>

#include <algorithm>
#include <map>
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

/// The properties of a place as rows of their own.
void addProperties(OutlineRow& parent, const Project& project)
{
    for (Property& property : propertiesOf(project, parent.place)) {
        OutlineRow row = rowOf("property:" + property.key, property.title, "property", parent.place);
        row.value = property.valueText();
        row.toolTip = property.toolTip();
        row.property = std::move(property);
        parent.children.push_back(std::move(row));
    }
}

OutlineRow sectionRow(const Project& project, Section section, const char* key, const char* icon)
{
    const Place place = SectionPlace{section};
    OutlineRow row = rowOf(key, titleOf(project, place), icon, place);
    row.toolTip = subtitleOf(project, place);
    addProperties(row, project);
    return row;
}

/// The value of the property `key` among the children, for the section's own line.
QString shownValue(const OutlineRow& section, const std::string& key)
{
    const auto found = std::find_if(section.children.begin(), section.children.end(),
                                    [&](const OutlineRow& row) { return row.key == "property:" + key; });
    return found == section.children.end() ? QString() : found->value;
}

OutlineRow graphRow(const Project& project, const projects::GraphRef& ref, const char* icon)
{
    OutlineRow row = rowOf(ref, titleOf(project, GraphPlace{ref}), icon, GraphPlace{ref});
    addProperties(row, project);
    if (const projects::Graph* graph = findGraph(project, ref)) {
        for (const projects::Node& node : graph->nodes) {
            const NodePlace place{ref, node.id};
            OutlineRow child = rowOf("node:" + std::to_string(static_cast<std::uint32_t>(node.id)),
                                     QString::fromStdString(node.name), "node", place);
            const projects::NodeKind* kind = projects::findNodeKind(node.kind);
            child.value = QString::fromStdString(kind ? kind->title : node.kind);
            child.toolTip = subtitleOf(project, place);
            addProperties(child, project);
            row.children.push_back(std::move(child));
        }
    }
    return row;
}

OutlineRow shortcutRow(const Project& project, const projects::Shortcut& shortcut)
{
    const ShortcutsPlace place{{shortcut}};
    OutlineRow row = rowOf("shortcut:" + std::to_string(shortcut.source),
                           QStringLiteral("%1:%2").arg(shortcut.source).arg(shortcut.target), "shortcut", place);
    std::vector<Property> properties = propertiesOf(project, place);
    if (!properties.empty()) {
        row.value = properties.front().valueText();
        row.property = std::move(properties.front());
    }
    row.toolTip = subtitleOf(project, place);
    row.shortcut = shortcut;
    return row;
}

/// The sources of a target, and those that were pruned from it: they can be brought back.
std::vector<projects::Shortcut> shortcutsInto(const DepthMix& mix, std::int64_t target, std::int64_t depth)
{
    std::vector<projects::Shortcut> shortcuts;
    for (const std::int64_t source : sourcesOf(mix, target, depth)) {
        shortcuts.push_back({source, target});
    }
    for (const auto& [shortcut, state] : mix.states) {
        if (shortcut.target == target && state == projects::ShortcutState::Pruned) {
            shortcuts.push_back(shortcut);
        }
    }
    std::sort(shortcuts.begin(), shortcuts.end());
    shortcuts.erase(std::unique(shortcuts.begin(), shortcuts.end()), shortcuts.end());
    return shortcuts;
}

void addShortcuts(OutlineRow& row, const Project& project, std::int64_t target)
{
    if (const auto* mix = std::get_if<DepthMix>(&project.topology.wiring)) {
        for (const projects::Shortcut& shortcut : shortcutsInto(*mix, target, editor::modulesOf(project))) {
            row.children.push_back(shortcutRow(project, shortcut));
        }
    }
}

/// What the layer reads: under its own row, or under a row for each half where both halves read mixes of their own.
void addReads(OutlineRow& row, const Project& project, std::int64_t layer)
{
    if (editor::modulesPerLayer(project) == 1) {
        addShortcuts(row, project, layer);
        return;
    }
    for (const std::int64_t module : {2 * layer - 1, 2 * layer}) {
        const QString name = QString::fromStdString(editor::moduleName(project, module));
        OutlineRow half =
            rowOf("module:" + std::to_string(module),
                  module % 2 == 1 ? Text::tr("%1, after attention").arg(name) : Text::tr("%1, after the FFN").arg(name),
                  "layer", LayersPlace{{layer}});
        addShortcuts(half, project, module);
        row.children.push_back(std::move(half));
    }
}

OutlineRow layersRow(const Project& project)
{
    const std::int64_t depth = project.network.depth();
    OutlineRow layers = rowOf("layers", Text::tr("Layers"), "network", SectionPlace{Section::Network});
    layers.value = QString::number(depth);
    for (std::int64_t layer = 1; layer <= depth; ++layer) {
        const LayersPlace place{{layer}};
        OutlineRow row = rowOf("layer:" + std::to_string(layer), titleOf(project, place), "layer", place);
        row.value = subtitleOf(project, place);
        addProperties(row, project);
        addReads(row, project, layer);
        layers.children.push_back(std::move(row));
    }
    OutlineRow output = rowOf("output", Text::tr("Final output"), "layer", GraphPlace{"head"});
    addShortcuts(output, project, editor::modulesOf(project) + 1);
    if (!output.children.empty()) {
        layers.children.push_back(std::move(output));
    }
    return layers;
}

OutlineRow networkRow(const Project& project)
{
    OutlineRow row = sectionRow(project, Section::Network, "network", "network");
    row.value = Text::tr("depth %1").arg(project.network.depth());
    row.children.push_back(graphRow(project, "stem", "graph"));
    row.children.push_back(layersRow(project));
    for (const projects::Block& block : project.network.blocks) {
        row.children.push_back(graphRow(project, "block:" + block.name, "block"));
    }
    row.children.push_back(graphRow(project, "head", "graph"));
    return row;
}

/// What was changed since the preset was chosen stands first among the wiring's rows.
OutlineRow topologyRow(const Project& project)
{
    OutlineRow row = sectionRow(project, Section::Topology, "topology", "topology");
    row.value = shownValue(row, "preset");
    const std::optional<Customisation> custom = customisationOf(project);
    if (!custom) {
        return row;
    }
    row.value = custom->title();
    OutlineRow differences = rowOf("differences", Text::tr("Differences"), "property", row.place);
    differences.value = QString::number(custom->changes.size());
    for (std::size_t i = 0; i < custom->changes.size(); ++i) {
        const projects::Change& change = custom->changes[i];
        OutlineRow line =
            rowOf("difference:" + std::to_string(i), QString::fromStdString(change.place), "property", row.place);
        line.value = change.kind == projects::ChangeKind::Removed
                         ? Text::tr("without %1").arg(QString::fromStdString(change.before))
                         : QString::fromStdString(change.after);
        line.toolTip = QString::fromStdString(change.text());
        differences.children.push_back(std::move(line));
    }
    row.children.insert(row.children.begin(), std::move(differences));
    return row;
}

OutlineRow runsRow(const Project& project, const std::vector<engine::RunInfo>& runs)
{
    const Place place = SectionPlace{Section::Runs};
    OutlineRow row = rowOf("runs", titleOf(project, place), "runs", place);
    row.value = runs.empty() ? QString() : QString::number(runs.size());
    for (const engine::RunInfo& run : runs) {
        OutlineRow child = rowOf("run:" + run.directory, QString::fromStdString(run.name), "training", place);
        child.value = QStringLiteral("%1, %2/%3")
                          .arg(QString::fromStdString(engine::toString(run.status)), formatWhole(run.step),
                               formatWhole(run.steps));
        child.toolTip = QString::fromStdString(run.message.empty() ? run.directory : run.message);
        row.children.push_back(std::move(child));
    }
    return row;
}

} // namespace

std::vector<OutlineRow> outlineOf(const Project& project, const std::vector<engine::RunInfo>& runs)
{
    std::vector<OutlineRow> rows;
    rows.push_back(sectionRow(project, Section::Data, "data", "data"));
    rows.back().value = shownValue(rows.back(), "source");
    rows.push_back(networkRow(project));
    rows.push_back(topologyRow(project));
    rows.push_back(sectionRow(project, Section::Stages, "stages", "stages"));
    rows.back().value =
        project.stages.stages.empty() ? Text::tr("none") : QString::number(project.stages.stages.size());
    rows.push_back(sectionRow(project, Section::Initialisation, "initialisation", "initialisation"));
    rows.back().value = shownValue(rows.back(), "law");
    rows.push_back(sectionRow(project, Section::Training, "training", "training"));
    rows.back().value = shownValue(rows.back(), "steps");
    rows.push_back(sectionRow(project, Section::Seeds, "seeds", "seeds"));
    rows.push_back(runsRow(project, runs));
    return rows;
}

} // namespace residua::app
