// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/commands/commands.h"

#include "projects/edit/edit.h"
#include "projects/graphs/graph_edits.h"
#include "projects/layers/layer_edits.h"
#include "projects/library/presets.h"
#include "projects/model/graph.h"
#include "projects/model/places.h"
#include "projects/nodes/example_schema.h"
#include "projects/nodes/node_kinds.h"
#include "projects/nodes/resolved_graph.h"
#include "projects/schema/describe_topology.h"
#include "projects/transfer/retrofit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace residua::projects {
namespace {

using Cures = std::vector<Cure>;

/// Makes all layers of the first preset with these ports, if blocks cannot get them.
std::vector<Edit> layersOfPreset(const Project& project, MixPorts ports)
{
    const BlockPreset& preset = blockPresetFor(ports);
    Block block{freeBlockName(project.network, preset.name), preset.name, preset.graph};
    std::vector<StackSegment> stack = project.stack().segments;
    for (StackSegment& segment : stack) {
        segment.block = block.name;
    }
    std::vector<Edit> edits{PutBlock{std::move(block)}, SetStack{stack, project.stack().loops}};
    std::ranges::copy(removeUnused(project.network, stack), std::back_inserter(edits));
    return edits;
}

void addPortCures(const Project& project, Cures& cures)
{
    const auto* const mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
    if (mix == nullptr || mix->ports == MixPorts::Input) {
        return;
    }
    const std::string title = "Use the " + std::string(choiceOf(mix->ports).title) + " block";
    if (std::vector<Edit> edits = portEdits(project, mix->ports); !edits.empty()) {
        cures.push_back({title, EditGroup{title, std::move(edits)}});
    }
    cures.push_back({title, EditGroup{title, layersOfPreset(project, mix->ports)}});
}

/// Adds a cure that sets the field to the nearest end of its range.
void addRangeCure(const Project& project, const std::string& path, Cures& cures)
{
    const auto entry = findField(project, path);
    if (!entry) {
        return;
    }
    const Range& range = entry->field.more.range;
    const auto* const whole = std::get_if<std::int64_t>(&entry->value);
    const auto* const real = std::get_if<double>(&entry->value);
    for (const double end : {range.least, range.most}) {
        if ((whole == nullptr && real == nullptr) || !std::isfinite(end)) {
            continue;
        }
        const FieldScalar value = whole != nullptr ? FieldScalar(static_cast<std::int64_t>(end)) : FieldScalar(end);
        if (auto edit = fieldEdit(project, path, value)) {
            cures.push_back({"Set " + numberText(end), *std::move(edit)});
        }
    }
}

/// Adds cures that set numbers of heads of the node, nearest first.
void addHeadCures(const Project& project, const GraphPointer& at, Cures& cures)
{
    const Node& node = findGraph(project, at.graph)->nodes[*at.node];
    if (roleOf(node) != NodeRole::Attention) {
        return;
    }
    const Result<Sizes> sizes = sizesOf(project);
    const Result<ParamMap> params = sizes ? evaluateParams(node, *sizes) : Result<ParamMap>(sizes.error());
    if (!params) {
        return;
    }
    for (const auto& [param, words] : {std::pair("heads", " heads"), std::pair("kv_heads", " key-value heads")}) {
        const std::int64_t now = paramInt(*params, param);
        constexpr std::int64_t kFarthest = 16;
        for (std::int64_t away = 1; away <= kFarthest; ++away) {
            for (const std::int64_t heads : {now - away, now + away}) {
                if (heads >= 1) {
                    cures.push_back(
                        {"Set " + std::to_string(heads) + words, SetParam{at.graph, node.id, param, heads}});
                }
            }
        }
    }
}

/// Returns the widths that a wire of the graph may need: those of the node's other inputs, and the network's.
std::set<std::int64_t> widthsFor(const Project& project, const std::vector<std::pair<Wire, Shape>>& inputs,
                                 const Wire& wire)
{
    std::set<std::int64_t> widths{project.stack().width};
    for (const auto& [other, shape] : inputs) {
        if (other != wire) {
            widths.insert(shape.features());
        }
    }
    return widths;
}

/// Returns how many nodes the longest path to each node passes. A skip leaves the path that it goes around early, so of
/// the inputs of a sum, the one that passed the fewest nodes is the skip.
std::map<NodeId, std::size_t> distancesIn(const Graph& graph)
{
    std::map<NodeId, std::size_t> distances;
    const Result<std::vector<NodeId>> order = topologicalOrder(graph);
    for (const NodeId node : order ? *order : std::vector<NodeId>()) {
        std::size_t& distance = distances[node];
        for (const Wire& wire : graph.wires) {
            if (wire.to.node == node) {
                distance = std::max(distance, distances[wire.from.node] + 1);
            }
        }
    }
    return distances;
}

/// Adds cures that insert a linear node into a wire of the node to change its width, a skip last. If the graph as a
/// whole is wrong, the wire of its output.
void addWidthCures(const Project& project, const GraphPointer& at, Cures& cures)
{
    const Graph& graph = *findGraph(project, at.graph);
    const ResolvedGraph resolved = resolveGraph(project, at.graph);
    std::vector<std::pair<Wire, Shape>> inputs;
    for (const Wire& wire : graph.wires) {
        const Node* const reader = graph.find(wire.to.node);
        const bool isMeant = reader != nullptr &&
                             (at.node ? reader == &graph.nodes[*at.node] : roleOf(*reader) == NodeRole::GraphOutput);
        const auto shape = resolved.outputs.find(wire.from);
        if (isMeant && shape != resolved.outputs.end() && !shape->second.dims.empty()) {
            inputs.emplace_back(wire, shape->second);
        }
    }
    std::ranges::stable_sort(inputs, std::ranges::greater(), [distances = distancesIn(graph)](const auto& input) {
        const auto found = distances.find(input.first.from.node);
        return found == distances.end() ? 0 : found->second;
    });
    for (const auto& [wire, shape] : inputs) {
        for (const std::int64_t width : widthsFor(project, inputs, wire)) {
            if (width == shape.features()) {
                continue;
            }
            Node linear = newNode(graph, "linear");
            if (width != project.stack().width) { // the network's width is the default
                linear.params["out"] = width;
            }
            const std::string title =
                "Insert a linear " + std::to_string(shape.features()) + " → " + std::to_string(width);
            EditGroup group{title, {RemoveWire{at.graph, wire}, AddNode{at.graph, linear, std::nullopt}}};
            group.edits.emplace_back(AddWire{at.graph, {wire.from, {linear.id, "in"}}});
            group.edits.emplace_back(AddWire{at.graph, {{linear.id, "out"}, wire.to}});
            cures.push_back({title, std::move(group)});
        }
    }
}

/// Adds a cure that removes the state of every pruned shortcut.
void addPrunedCure(const Project& project, Cures& cures)
{
    const auto* const mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
    EditGroup group{"Bring pruned shortcuts back", {}};
    for (const auto& [shortcut, state] : mix != nullptr ? mix->states : decltype(mix->states){}) {
        if (state == ShortcutState::Pruned) {
            group.edits.emplace_back(SetShortcutState{shortcut, std::nullopt});
        }
    }
    if (!group.edits.empty()) {
        cures.push_back({group.title, std::move(group)});
    }
}

/// Adds a cure that sets the first objective that fits the data.
void addObjectiveCure(const Project& project, const std::string& path, Cures& cures)
{
    const ExampleSchema examples = examplesOf(project);
    const auto fitting =
        std::ranges::find_if(kObjectives, [&](const ObjectiveTraits& objective) { return fits(objective, examples); });
    if (fitting != std::end(kObjectives)) {
        cures.push_back({"Set the objective to " + std::string(fitting->title),
                         SetField{path, {"\"" + std::string(fitting->key) + "\""}}});
    }
}

/// Adds a cure that gives stem and head what pairs of texts need, or takes it from them.
void addNextSentenceCure(const Project& project, Cures& cures)
{
    const bool wanted =
        project.data.masking.nextSentence && traitsOf(project.network.objective).targetOf == TargetOf::Hidden;
    const Network fitted = withNextSentence(project.network, wanted);
    const std::string title = wanted ? "Add the output next_sentence" : "Remove the output next_sentence";
    EditGroup group{title, {SetField{"/data/masking/next_sentence", {wanted ? "true" : "false"}}}};
    group.edits.emplace_back(SetGraph{GraphRef::stem(), fitted.stem});
    group.edits.emplace_back(SetGraph{GraphRef::head(), fitted.head});
    cures.push_back({title, std::move(group)});
}

/// Adds a cure that feeds the segments of pairs to a segment embedding.
void addSegmentsCure(const Project& project, const GraphPointer& at, Cures& cures)
{
    const Graph& graph = *findGraph(project, at.graph);
    if (graph.nodes[*at.node].kind == "segment_embedding") {
        cures.push_back({"Read the segments of pairs", SetGraph{at.graph, withSegments(graph)}});
    }
}

/// Adds a cure that sets the field of a problem to the value that the problem asks for.
void addWantedCure(const Project& project, const Problem& problem, Cures& cures)
{
    const auto entry = problem.wanted ? findField(project, problem.path) : std::nullopt;
    auto edit = entry ? fieldEdit(project, problem.path, *problem.wanted) : Result<Edit>(Error{});
    if (edit) {
        const std::string unit(entry->field.more.unit);
        cures.push_back(
            {"Set " + std::to_string(*problem.wanted) + (unit.empty() ? "" : " " + unit), *std::move(edit)});
    }
}

Cures candidates(const Project& project, const Problem& problem)
{
    const std::string& path = problem.path;
    Cures cures;
    addWantedCure(project, problem, cures);
    const std::optional<GraphPointer> at = graphPointerFrom(project, path);
    if (at && at->graph.isBlock() && !isUsed(project.stack().segments, at->graph.blockName())) {
        cures.push_back({"Remove the block", RemoveBlock{at->graph.blockName()}});
    }
    if (path == "/topology/wiring/ports") {
        addPortCures(project, cures);
    } else if (path == "/topology/wiring/states") {
        addPrunedCure(project, cures);
    } else if (path == "/network/tie_head") {
        cures.push_back({"Untie the head", SetField{path, {"false"}}});
    } else if (path == "/schedule/unit") {
        cures.push_back({"Leave out single layers", SetField{path, {"\"layer\""}}});
    } else if (path == "/network/objective") {
        addObjectiveCure(project, path, cures);
    } else if (path == "/network/head/nodes" || path == "/network/stem/nodes" ||
               path == "/data/masking/next_sentence") {
        addNextSentenceCure(project, cures);
    }
    if (at && at->wire) {
        cures.push_back({"Remove the wire", RemoveWire{at->graph, findGraph(project, at->graph)->wires[*at->wire]}});
    }
    if (at && at->node) {
        addHeadCures(project, *at, cures);
        addSegmentsCure(project, *at, cures);
    }
    if (at && findGraph(project, at->graph) != nullptr) {
        addWidthCures(project, *at, cures);
    }
    addRangeCure(project, path, cures);
    return cures;
}

std::size_t errorsIn(const std::vector<Problem>& problems)
{
    return static_cast<std::size_t>(std::ranges::count(problems, Severity::Error, &Problem::severity));
}

/// A candidate cure, and the problems that remain after it was tried.
struct Trial {
    Cure cure;
    std::optional<std::vector<Problem>> left;
};

/// The cures tried on one project. The candidates depend only on the path of a problem, so problems with one path share
/// them.
class Trials {
public:
    Trials(const Project& project, const std::vector<Problem>& problems)
        : m_project(project), m_errors(errorsIn(problems))
    {
    }

    std::optional<Cure> cureOf(const Problem& problem)
    {
        const auto [tried, isNew] = m_trials.try_emplace(problem.path);
        if (isNew) {
            for (Cure& cure : candidates(m_project, problem)) {
                tried->second.push_back({std::move(cure), std::nullopt});
            }
        }
        const auto found = std::ranges::find_if(tried->second, [&](Trial& trial) { return cures(trial, problem); });
        return found == tried->second.end() ? std::nullopt : std::optional(found->cure);
    }

private:
    bool cures(Trial& trial, const Problem& problem)
    {
        if (!trial.left) {
            Document after{m_project, {}};
            // An edit that fails leaves the problem.
            trial.left = applyEdit(after, trial.cure.edit) ? validate(after.project) : std::vector{problem};
        }
        return errorsIn(*trial.left) <= m_errors &&
               std::ranges::find(*trial.left, problem.path, &Problem::path) == trial.left->end();
    }

    const Project& m_project;
    std::size_t m_errors;
    std::map<std::string, std::vector<Trial>> m_trials; ///< by the problems' path
};

} // namespace

std::optional<Cure> cureOf(const Project& project, const Problem& problem)
{
    return Trials(project, validate(project)).cureOf(problem);
}

std::vector<std::optional<Cure>> curesOf(const Project& project, const std::vector<Problem>& problems, std::size_t most)
{
    Trials trials(project, problems);
    std::vector<std::optional<Cure>> cures;
    for (std::size_t i = 0; i < std::min(problems.size(), most); ++i) {
        cures.push_back(trials.cureOf(problems[i]));
    }
    return cures;
}

} // namespace residua::projects
