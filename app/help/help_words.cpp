// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/help/help_page.h"

#include "projects/library/schedule_presets.h"
#include "projects/model/places.h"
#include "projects/nodes/attention_features.h"
#include "projects/schema/method_keys.h"

#include <algorithm>

namespace residua::app {

namespace {

using projects::Project;

constexpr const char* kBlocks = "blocks";

/// Returns the preset while the wiring is still of its family.
std::string wordOfTopology(const projects::Topology& topology)
{
    const std::string family = keyOf(topology.wiring);
    for (const projects::TopologyPreset& preset : projects::topologyChoices(1)) {
        if (preset.name == topology.preset && keyOf(preset.wiring) == family) {
            return preset.name;
        }
    }
    return family;
}

/// Below full rank, returns the method that starts the factors; its page refers to the law as the baseline.
std::string wordOfInitialisation(const Project& project)
{
    const bool inFactors = !std::holds_alternative<projects::FullRank>(project.network.rank);
    return inFactors ? keyOf(project.initialisation.lowRank) : keyOf(project.initialisation.law);
}

/// A performer has a page of its own, separate from that of attention.
std::string wordOfNode(const projects::Node& node)
{
    const auto weights = node.params.find(projects::kWeightsParam); // absent if it has the default
    const auto* const text = weights == node.params.end() ? nullptr : std::get_if<std::string>(&weights->second);
    const bool byFeatures = roleOf(node) == projects::NodeRole::Attention && text != nullptr;
    return byFeatures && *text == projects::kPerformerWeights ? *text : node.kind;
}

std::string wordOfSection(const Project& project, Section section)
{
    switch (section) {
    case Section::Data:
        return keyOf(project.data.source);
    case Section::Network:
        return keyOf(project.network.objective);
    case Section::Topology:
        return wordOfTopology(project.stack().topology);
    case Section::Schedule:
        return "stages";
    case Section::Initialisation:
        return wordOfInitialisation(project);
    case Section::Training:
        return keyOf(project.training.optimiser);
    case Section::Seeds:
        return "seeds";
    case Section::Runs:
        break;
    }
    return {};
}

class WordOfPlace {
public:
    explicit WordOfPlace(const Project& project) : m_project(project) {}

    std::string operator()(const ProjectPlace&) const { return {}; }
    std::string operator()(const SectionPlace& place) const { return wordOfSection(m_project, place.section); }
    std::string operator()(const GraphPlace& place) const
    {
        return place.graph.isHead()   ? keyOf(m_project.network.objective)
               : place.graph.isStem() ? std::string()
                                      : kBlocks;
    }
    std::string operator()(const NodePlace& place) const
    {
        const projects::Graph* const graph = projects::findGraph(m_project, place.graph);
        const projects::Node* const node = graph ? graph->find(place.node) : nullptr;
        return node ? wordOfNode(*node) : std::string();
    }
    std::string operator()(const LayersPlace&) const { return kBlocks; }
    std::string operator()(const ShortcutsPlace&) const { return wordOfTopology(m_project.stack().topology); }

private:
    const Project& m_project;
};

} // namespace

std::string helpWordOf(const Project& project, const Place& place)
{
    return std::visit(WordOfPlace(project), place);
}

std::string helpWordOf(const PaletteItem& item)
{
    return item.kind == PaletteKind::Block ? kBlocks : item.key;
}

} // namespace residua::app
