// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/nodes/towers.h"

#include "projects/base/text.h"
#include "projects/depth/depth_names.h"
#include "projects/depth/depth_program.h"
#include "projects/nodes/example_schema.h"
#include "projects/nodes/node_kinds.h"
#include "projects/nodes/resolved_graph.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace residua::projects {
namespace {

constexpr std::string_view kStates = "states";
constexpr char kExit = '@'; ///< before the layer

void addPorts(const Graph& graph, std::vector<std::string>& ports)
{
    for (const Node& node : graph.nodes) {
        if (roleOf(node) == NodeRole::GraphInput) {
            ports.push_back(graphPortOf(node));
        }
    }
}

/// Returns the names of all ports and inputs of the tower that may read values.
std::vector<std::string> portsOf(const Network& network)
{
    std::vector<std::string> ports{network.input};
    addPorts(network.stem, ports);
    addPorts(network.head, ports);
    for (const Block& block : network.blocks) {
        if (isUsed(network.stack().segments, block.name)) {
            addPorts(block.graph, ports);
        }
    }
    return ports;
}

/// Adds the values of a graph's further output ports to the known ones.
void addFurther(const Network& network, const ResolvedGraph& resolved, std::map<std::string, Shape>& known)
{
    for (const OutputPort& port : resolved.outputPorts) {
        if (port.name != kOutputPort) {
            known[valueOf(network, port.name)] = port.shape;
        }
    }
}

/// Returns the shape that enters the stem, if the tower's input is known.
const Shape* enteringOf(const Network& network, const Shape& data, const std::map<std::string, Shape>& known)
{
    const auto input = known.find(network.input);
    return network.input.empty() ? &data : input == known.end() ? nullptr : &input->second;
}

/// Returns the towers whose values or weights each tower uses directly.
std::vector<std::set<std::size_t>> readsOf(const Project& project)
{
    std::vector<std::set<std::size_t>> reads(towerCount(project));
    for (std::size_t index = 0; index < reads.size(); ++index) {
        for (const std::string& value : readValues(project, index)) {
            reads[index].insert(towerOfValue(project, value));
        }
        if (const std::size_t owner = weightsOwner(project, index); owner != index && owner < reads.size()) {
            reads[index].insert(owner);
        }
    }
    return reads;
}

/// Adds the values of a tower to the known ones, if its graphs can be resolved.
void addValues(const Project& project, const Network& network, std::map<std::string, Shape>& known)
{
    const Shape data = examplesOf(project).input().shape;
    const Shape* const entering = enteringOf(network, data, known);
    if (entering == nullptr) {
        return;
    }
    const Result<Sizes> sizes = sizesOf(project, network, *entering);
    const ResolvedGraph stem = resolveGraph(network.stem, GraphRef::stem(), sizes, *entering, known);
    const Shape states = stackShapeOf(stem, *entering, network.stack().width);
    addFurther(network, stem, known);
    const ResolvedGraph head = resolveGraph(network.head, GraphRef::head(), sizes, states, known);
    addFurther(network, head, known);
    known[statesOf(network)] = states;
    if (const OutputPort* const output = head.outputPort(kOutputPort)) {
        known[outputOf(network)] = output->shape;
    }
}

/// Returns the conditions of the examples, and the values of the towers that run before tower `end`.
std::map<std::string, Shape> valuesBefore(const Project& project, std::size_t end)
{
    std::map<std::string, Shape> known = examplesOf(project).conditions();
    if (project.towers.empty() && end == 0) {
        return known;
    }
    const Result<std::vector<std::size_t>> order = runOrder(project);
    for (const std::size_t index : order ? *order : std::vector<std::size_t>()) {
        if (index == end) {
            break;
        }
        addValues(project, towerAt(project, index), known);
    }
    return known;
}

} // namespace

std::string valueOf(const Network& network, std::string_view port)
{
    return network.name + "." + std::string(port);
}

std::string statesOf(const Network& network)
{
    return valueOf(network, kStates);
}

std::string outputOf(const Network& network)
{
    return valueOf(network, kOutputPort);
}

std::vector<std::string> furtherPorts(const Graph& graph)
{
    std::vector<std::string> ports;
    for (const Node& node : graph.nodes) {
        if (roleOf(node) == NodeRole::GraphOutput && graphPortOf(node) != kOutputPort) {
            ports.push_back(graphPortOf(node));
        }
    }
    return ports;
}

bool ValueName::isStates() const
{
    return port == kStates;
}

std::string ValueName::withoutExit() const
{
    return tower + "." + port;
}

std::string ValueName::text() const
{
    return withoutExit() + (exit.empty() ? "" : kExit + exit);
}

std::string exitOf(const std::string& value, const Stack& stack, std::int64_t layer)
{
    return value + kExit + layerName(stack, layer);
}

std::optional<ValueName> valueNameFrom(std::string_view text)
{
    const std::size_t point = text.find('.');
    if (point == std::string_view::npos) {
        return std::nullopt;
    }
    ValueName name{std::string(text.substr(0, point)), std::string(text.substr(point + 1)), {}};
    const std::size_t at = name.port.find(kExit);
    const std::string before = name.port.substr(0, at);
    if (at != std::string::npos && at + 1 < name.port.size() && (before == kStates || before == kOutputPort)) {
        name.exit = name.port.substr(at + 1);
        name.port = before;
    }
    return name;
}

std::optional<std::size_t> gatedLoop(const Stack& stack)
{
    for (std::size_t i = 0; i < stack.loops.size(); ++i) {
        if (stack.loops[i].exitGate && stack.isSound(i)) {
            return i;
        }
    }
    return std::nullopt;
}

std::vector<UsedExit> usedExits(const Project& project, const Network& network)
{
    const Stack& stack = network.stack();
    std::map<std::int64_t, bool> exits;
    for (const Loss& loss : project.losses) {
        for (const std::string& value : {loss.output, loss.target}) {
            const std::optional<ValueName> name = valueNameFrom(value);
            const auto layer = name && name->tower == network.name ? layerNamed(stack, name->exit) : std::nullopt;
            if (layer) {
                exits[*layer] |= !name->isStates();
            }
        }
    }
    if (const std::optional<std::size_t> gated = gatedLoop(stack)) {
        const Loop& loop = stack.loops[*gated];
        for (std::int64_t visit = 1; visit < loop.visits; ++visit) {
            exits[stack.numberOf({loop.last, visit})] = true;
        }
    }
    std::vector<UsedExit> used;
    for (const auto& [layer, givesOutput] : exits) {
        used.push_back({layer, givesOutput});
    }
    return used;
}

std::vector<std::string> exitNames(const Project& project)
{
    std::vector<std::string> names;
    for (std::size_t index = 0; index < towerCount(project); ++index) {
        const Network& network = towerAt(project, index);
        const Stack& stack = network.stack();
        const std::int64_t layers = hasOneResidual(stack.topology.wiring) ? stack.depth() : 0;
        for (std::int64_t layer = 1; layer <= std::min(layers, kMostListedExits); ++layer) {
            names.push_back(exitOf(statesOf(network), stack, layer));
            names.push_back(exitOf(outputOf(network), stack, layer));
        }
    }
    return names;
}

std::vector<Loss> renumberedLosses(const Project& project, const Stack& after,
                                   const std::function<std::optional<std::int64_t>(std::int64_t)>& layerTo)
{
    std::vector<Loss> losses = project.losses;
    std::erase_if(losses, [&](Loss& loss) {
        bool isGone = false;
        for (std::string* const value : {&loss.output, &loss.target}) {
            std::optional<ValueName> name = valueNameFrom(*value);
            const auto layer =
                name && name->tower == project.network.name ? layerNamed(project.stack(), name->exit) : std::nullopt;
            const auto to = layer ? layerTo(*layer) : std::nullopt;
            isGone |= layer && !to;
            if (to) {
                name->exit = layerName(after, *to);
                *value = name->text();
            }
        }
        return isGone;
    });
    return losses;
}

std::size_t towerCount(const Project& project)
{
    return project.towers.size() + 1;
}

const Network& towerAt(const Project& project, std::size_t index)
{
    return index == 0 ? project.network : project.towers.at(index - 1).network;
}

std::size_t towerNamed(const Project& project, std::string_view name)
{
    std::size_t index = 0;
    while (index < towerCount(project) && towerAt(project, index).name != name) {
        ++index;
    }
    return index;
}

std::size_t weightsOwner(const Project& project, std::size_t index)
{
    const std::string& weights = towerAt(project, index).weights;
    return weights.empty() ? index : towerNamed(project, weights);
}

std::size_t towerOfValue(const Project& project, std::string_view value)
{
    const std::optional<ValueName> name = valueNameFrom(value);
    const std::size_t index = name ? towerNamed(project, name->tower) : towerCount(project);
    if (index == towerCount(project)) {
        return index;
    }
    const Network& network = towerAt(project, index);
    const bool exists = name->isStates() || name->port == kOutputPort ||
                        std::ranges::count(furtherPorts(network.stem), name->port) > 0 ||
                        std::ranges::count(furtherPorts(network.head), name->port) > 0;
    return exists ? index : towerCount(project);
}

Project viewOf(Project project, std::size_t index)
{
    if (index > 0 && index < towerCount(project)) {
        std::swap(project.network, project.towers[index - 1].network);
        for (Sweep& sweep : project.sweeps) {
            for (SweepAxis& axis : sweep.axes) {
                axis.field = pointerOfView(index, axis.field);
            }
        }
    }
    return project;
}

std::string pointerOfView(std::size_t index, std::string_view pointer)
{
    constexpr std::string_view kNetwork = "/network";
    if (index == 0) {
        return std::string(pointer);
    }
    const std::string tower = "/towers/" + std::to_string(index - 1);
    const auto isOf = [](std::string_view text, std::string_view part) {
        return text == part || (text.starts_with(part) && text[part.size()] == '/');
    };
    const auto hasOwnKey = [&](std::string_view text) { return isOf(text, "/topology") || isOf(text, "/schedule"); };
    if (isOf(pointer, tower)) {
        const std::string_view below = pointer.substr(tower.size());
        return (hasOwnKey(below) ? std::string() : std::string(kNetwork)) + std::string(below);
    }
    if (hasOwnKey(pointer)) {
        return tower + std::string(pointer);
    }
    return isOf(pointer, kNetwork) ? tower + std::string(pointer.substr(kNetwork.size())) : std::string(pointer);
}

std::string nameOfView(const Project& view, std::size_t index, std::string_view name)
{
    if (index == 0) {
        return std::string(name);
    }
    for (std::size_t other = 1; other < towerCount(view); ++other) {
        const std::string scope = towerAt(view, other).name + ".";
        if (name.starts_with(scope)) {
            return std::string(other == index ? name.substr(scope.size()) : name);
        }
    }
    return view.network.name + "." + std::string(name);
}

ViewedField viewedField(const Project& project, std::string_view pointer)
{
    for (std::size_t index = 1; index < towerCount(project); ++index) {
        const std::string tower = "/towers/" + std::to_string(index - 1);
        for (const std::string& typed : {tower, "/" + towerAt(project, index).name}) {
            const bool isOfFirst = typed == "/network"; // in the view of another tower
            if (!isOfFirst && pointer.starts_with(typed + "/")) {
                return {index, pointerOfView(index, tower + std::string(pointer.substr(typed.size())))};
            }
        }
    }
    return {0, std::string(pointer)};
}

Result<std::size_t> chosenTower(const Project& project, std::string_view name)
{
    const std::size_t index = name.empty() ? 0 : towerNamed(project, name);
    if (index < towerCount(project)) {
        return index;
    }
    std::vector<std::string> names;
    for (std::size_t i = 0; i < towerCount(project); ++i) {
        names.push_back(towerAt(project, i).name);
    }
    return Error{"tower", "there is no tower \"" + std::string(name) + "\"; expected " + joinedText(names, " or ")};
}

std::size_t judgingTower(const Project& project)
{
    const std::string& name = project.training.judgedBy;
    const std::size_t index = name.empty() ? 0 : towerNamed(project, name);
    return index < towerCount(project) ? index : 0;
}

Objective judgingObjective(const Project& project)
{
    return towerAt(project, judgingTower(project)).objective;
}

const Judge& judgeOfRuns(const Project& project)
{
    return traitsOf(judgingObjective(project)).judge;
}

Result<std::size_t> judgeOf(const Project& project, std::size_t index)
{
    const std::size_t judge = judgingTower(project);
    if (reachOf(project, {judge}).contains(index)) {
        return judge;
    }
    const Network& network = towerAt(project, index);
    if (network.ownLoss == OwnLoss::None) {
        return Error{"tower " + network.name, "has no objective, and " + towerAt(project, judge).name +
                                                  ", which judges the run, reads none of its values: nothing tells "
                                                  "what its parts do; expected a run with its own_loss measured"};
    }
    return index;
}

Result<Project> aloneOf(Project project, std::size_t index)
{
    project = viewOf(std::move(project), index);
    Network& network = project.network;
    const std::string place = "tower " + network.name;
    if (const std::vector<std::string> read = readValues(project, 0); !read.empty()) {
        return Error{place, "reads " + joinedText(read) + "; expected a tower that reads no other"};
    }
    if (!network.weights.empty()) {
        return Error{place, "uses the weights of " + network.weights + "; expected a tower with weights of its own"};
    }
    if (network.ownLoss == OwnLoss::None) {
        return Error{place, "has no objective; expected a tower with own_loss measured or trained"};
    }
    project.towers.clear();
    project.losses.clear();
    project.training.judgedBy.clear();
    network.ownLoss = OwnLoss::Trained;
    network.frozen = false;
    return project;
}

Status checkOneTower(const Project& project, std::string_view what)
{
    if (project.towers.empty()) {
        return Done{};
    }
    return Error{"towers", "the document has " + std::to_string(towerCount(project)) + " towers; " + std::string(what) +
                               " needs a document with one tower"};
}

std::vector<std::string> readValues(const Project& project, std::size_t index)
{
    const Network& network = towerAt(project, index);
    std::vector<std::string> values = portsOf(network);
    std::vector<std::string> atStem{network.input};
    addPorts(network.stem, atStem);
    const std::vector<std::string> further = furtherPorts(network.stem);
    std::erase_if(values, [&](const std::string& value) {
        const bool isOwn =
            std::ranges::any_of(further, [&](const std::string& port) { return value == valueOf(network, port); });
        return towerOfValue(project, value) == towerCount(project) || (isOwn && std::ranges::count(atStem, value) == 0);
    });
    return values;
}

bool isRead(const Project& project, const std::string& value)
{
    const bool byLoss = std::ranges::any_of(
        project.losses, [&](const Loss& loss) { return loss.output == value || loss.target == value; });
    for (std::size_t index = 0; !byLoss && index < towerCount(project); ++index) {
        if (std::ranges::count(portsOf(towerAt(project, index)), value) > 0) {
            return true;
        }
    }
    return byLoss;
}

Result<std::vector<std::size_t>> runOrder(const Project& project)
{
    const std::vector<std::set<std::size_t>> reads = readsOf(project);
    std::vector<std::size_t> order;
    std::vector<std::size_t> waiting;
    for (std::size_t index = 1; index < reads.size(); ++index) {
        waiting.push_back(index);
    }
    waiting.push_back(0);
    while (!waiting.empty()) {
        const auto ready = std::ranges::find_if(waiting, [&](std::size_t index) {
            return std::ranges::none_of(waiting, [&](std::size_t other) { return reads[index].contains(other); });
        });
        if (ready == waiting.end()) {
            return Error{"towers",
                         joinedText(waiting, ", ", [&](std::size_t index) { return towerAt(project, index).name; }) +
                             " read each other's values; expected an order in which each tower reads "
                             "earlier ones only"};
        }
        order.push_back(*ready);
        waiting.erase(ready);
    }
    return order;
}

std::vector<std::size_t> shownOrder(const Project& project)
{
    const auto order = runOrder(project);
    std::vector<std::size_t> indices(towerCount(project));
    std::iota(indices.begin(), indices.end(), 0);
    return order ? *order : indices;
}

std::set<std::size_t> reachOf(const Project& project, std::set<std::size_t> towers)
{
    const std::vector<std::set<std::size_t>> reads = readsOf(project);
    std::vector<std::size_t> open(towers.begin(), towers.end());
    while (!open.empty()) {
        const std::size_t index = open.back();
        open.pop_back();
        for (const std::size_t read : reads[index]) {
            if (towers.insert(read).second) {
                open.push_back(read);
            }
        }
    }
    return towers;
}

std::set<std::size_t> neededTowers(const Project& project)
{
    std::set<std::size_t> needed;
    for (std::size_t index = 0; index < towerCount(project); ++index) {
        if (towerAt(project, index).ownLoss != OwnLoss::None) {
            needed.insert(index);
        }
    }
    for (const Loss& loss : project.losses) {
        needed.insert(towerOfValue(project, loss.output));
        needed.insert(towerOfValue(project, loss.target));
    }
    needed.erase(towerCount(project)); // of names without a tower
    return reachOf(project, std::move(needed));
}

std::set<std::size_t> usedTowers(const Project& project)
{
    std::set<std::size_t> used = neededTowers(project);
    used.insert(0);
    return reachOf(project, std::move(used));
}

std::map<std::string, Shape> conditionsOf(const Project& project)
{
    std::map<std::string, Shape> known = valuesBefore(project, 0);
    const Network& network = project.network;
    const Shape data = examplesOf(project).input().shape;
    const Shape* const entering = enteringOf(network, data, known);
    if (entering != nullptr && !furtherPorts(network.stem).empty()) {
        const Result<Sizes> sizes = sizesOf(project, network, *entering);
        addFurther(network, resolveGraph(network.stem, GraphRef::stem(), sizes, *entering, known), known);
    }
    return known;
}

std::map<std::string, Shape> valuesOf(const Project& project)
{
    std::map<std::string, Shape> values = valuesBefore(project, towerCount(project));
    std::erase_if(values, [&](const auto& value) { return towerOfValue(project, value.first) == towerCount(project); });
    return values;
}

Shape enteringShapeOf(const Project& project)
{
    const Shape data = examplesOf(project).input().shape;
    if (project.network.input.empty()) {
        return data;
    }
    const std::map<std::string, Shape> known = valuesBefore(project, 0);
    const Shape* const entering = enteringOf(project.network, data, known);
    return entering == nullptr ? data : *entering;
}

std::vector<LossGroup> lossGroupsOf(const Project& project)
{
    LossGroup all{.trains = {}, .losses = {}, .hasObjectives = true};
    for (std::size_t index = 0; index < towerCount(project); ++index) {
        if (!towerAt(project, index).frozen) {
            all.trains.insert(index);
        }
    }
    std::vector<LossGroup> groups{all};
    for (const Loss& loss : project.losses) {
        std::set<std::size_t> trains;
        for (const std::string& name : loss.trains) {
            trains.insert(towerNamed(project, name));
        }
        const std::set<std::size_t>& wanted = trains.empty() ? all.trains : trains;
        auto group = std::ranges::find(groups, wanted, &LossGroup::trains);
        if (group == groups.end()) {
            group = groups.insert(groups.end(), {.trains = wanted, .losses = {}});
        }
        group->losses.push_back(loss);
    }
    return groups;
}

} // namespace residua::projects
