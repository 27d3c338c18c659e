// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/base/text.h"
#include "projects/check/problems.h"
#include "projects/depth/depth_names.h"
#include "projects/depth/depth_program.h"
#include "projects/nodes/example_schema.h"
#include "projects/nodes/node_kinds.h"
#include "projects/nodes/resolved_graph.h"
#include "projects/nodes/shape.h"
#include "projects/nodes/towers.h"
#include "projects/schedule/kept_parts.h"
#include "projects/schema/fields.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <string>

namespace residua::projects {
namespace {

std::string placeOfTower(const Network& network)
{
    return "tower " + network.name;
}

/// True if the name can begin names of values and parameters.
bool isName(const std::string& name)
{
    constexpr std::string_view kTaken[] = {"stem",        "layers", "head",           "topology", "name",
                                           "description", "data",   "training",       "schedule", "seeds",
                                           "sweeps",      "towers", "initialisation", "losses"};
    return !name.empty() && name.find_first_of(". \t\n/") == std::string::npos &&
           std::ranges::find(kTaken, name) == std::end(kTaken);
}

void checkNames(const Project& project, Problems& problems)
{
    std::set<std::string> names;
    for (std::size_t index = 0; index < towerCount(project); ++index) {
        const std::string& name = towerAt(project, index).name;
        const std::string path = pointerOfView(index, "/network/name");
        if (!isName(name)) {
            problems.error(path, "is \"" + name +
                                     "\"; expected a name without spaces, points and slashes, which is not one "
                                     "of a part, such as stem, layers, head, topology or training");
        } else if (!names.insert(name).second) {
            problems.error(path, "is \"" + name + "\", which an earlier tower has; expected a name of its own");
        }
    }
}

/// Reports inputs that name no value, and those of towers that do not run before.
void checkInput(const Project& view, std::size_t index, Problems& problems)
{
    const std::string& input = view.network.input;
    const std::map<std::string, Shape> known = conditionsOf(view);
    if (!input.empty() && !known.contains(input)) {
        problems.error(
            pointerOfView(index, "/network/input"),
            "reads \"" + input + "\", which no tower before it has; expected " +
                (known.empty() ? "nothing, the examples' input" : "one of " + joinedText(std::views::keys(known))));
    }
}

/// Returns the shapes of the parameters of a graph's nodes by their names.
std::map<std::string, std::vector<std::int64_t>> parametersIn(const Project& view, const GraphRef& ref)
{
    std::map<std::string, std::vector<std::int64_t>> shapes;
    const Graph& graph = ref.isStem() ? view.network.stem : view.network.head;
    for (const ResolvedNode& node : resolveGraph(view, ref).nodes) {
        for (NodeParameter& parameter : parametersOf(*node.kind, node.params, node.in)) {
            shapes.emplace(graph.find(node.id)->name + "." + parameter.name, std::move(parameter.shape));
        }
    }
    return shapes;
}

/// Returns why the first tower of `view` cannot use the weights of the first one of `owner`; empty if it can.
std::string whyNotShared(const Project& view, const Project& owner)
{
    const Network& network = view.network;
    const Network& other = owner.network;
    if (network.stack() != other.stack() || network.blocks != other.blocks || network.rank != other.rank ||
        network.tieHead != other.tieHead) {
        return "whose layers, blocks, topology, schedule, rank or tied head are others; expected the same ones";
    }
    for (const GraphRef& ref : {GraphRef::stem(), GraphRef::head()}) {
        const auto own = parametersIn(view, ref);
        const auto all = parametersIn(owner, ref);
        for (const auto& [name, shape] : own) {
            const auto found = all.find(name);
            if (found == all.end() || found->second != shape) {
                return "whose " + placeOf(ref) + " has no parameter " + name +
                       " of this shape; expected a node of "
                       "this name that has the same inputs and sizes, or none";
            }
        }
    }
    return {};
}

/// Checks that a tower that uses another's weights needs none besides.
void checkWeights(const Project& project, std::size_t index, Problems& problems)
{
    const Network& network = towerAt(project, index);
    const std::size_t owner = weightsOwner(project, index);
    if (network.weights.empty()) {
        return;
    }
    std::string why;
    if (index == 0) {
        why = "but the first tower has its own; expected nothing";
    } else if (owner == index || owner == towerCount(project)) {
        why = "expected the name of another tower";
    } else if (!towerAt(project, owner).weights.empty()) {
        why = "which uses those of " + towerAt(project, owner).weights + "; expected that tower";
    } else {
        why = whyNotShared(viewOf(project, index), viewOf(project, owner));
    }
    if (!why.empty()) {
        problems.error(pointerOfView(index, "/network/weights"), "names \"" + network.weights + "\", " + why);
    }
}

/// Checks tower `index` by what is checked of a first tower.
void checkTower(const Project& project, std::size_t index, Problems& problems)
{
    const Project view = viewOf(project, index);
    Problems found(view);
    validateNetwork(view, found);
    validateTopology(view, found);
    found.checkRanges("/schedule");
    validateSchedule(view, found);
    for (const Problem& problem : found.take()) {
        const std::string path = pointerOfView(index, problem.path);
        const bool isOfField = problem.place == placeOfField(view, problem.path);
        const std::string place =
            isOfField ? placeOfField(project, path) : placeOfTower(view.network) + " · " + problem.place;
        if (problem.severity == Severity::Error) {
            problems.error(path, place, problem.message);
        } else {
            problems.warning(path, place, problem.message);
        }
    }
}

std::string withoutExit(const std::string& value)
{
    const std::optional<ValueName> name = valueNameFrom(value);
    return name ? name->withoutExit() : value;
}

/// Checks the layer after which a value is read.
void checkExit(const Project& project, const std::string& value, const std::string& path, Problems& problems)
{
    const std::optional<ValueName> name = valueNameFrom(value);
    if (!name || name->exit.empty()) {
        return;
    }
    const Stack& stack = towerAt(project, towerNamed(project, name->tower)).stack();
    const std::optional<std::int64_t> layer = layerNamed(stack, name->exit);
    if (!layer) {
        problems.error(path, "\"" + value + "\" names the layer " + name->exit + "; expected one from " +
                                 layerName(stack, 1) + " to " + layerName(stack, stack.depth()) +
                                 ", and of a loop with its visit, such as 3@2");
    } else if (!hasOneResidual(stack.topology.wiring)) {
        problems.error(path, "\"" + value + "\" is read between layers, but the topology " + stack.topology.preset +
                                 " has no single residual there; expected a value without @, or a topology with full "
                                 "outputs, such as plain, ancre or denseformer");
    } else if (const Loop* const loop = stack.loopOf(stack.visitAt(*layer).layer);
               loop != nullptr && loop->streams != LoopStreams::None && stack.visitAt(*layer).layer != loop->last) {
        problems.error(path, "\"" + value +
                                 "\" is read inside a visit that keeps several streams; expected the last "
                                 "layer of the loop, " +
                                 std::to_string(loop->last));
    }
}

/// Checks what LossKind::ExpectedExit needs of its tower.
void checkExpected(const Project& project, const std::map<std::string, Shape>& values, const Loss& loss,
                   const std::string& path, Problems& problems)
{
    const ValueName name = valueNameFrom(loss.output).value();
    const Network& network = towerAt(project, towerNamed(project, name.tower));
    if (name.isStates() || !name.exit.empty()) {
        problems.error(path + "/output", "is " + loss.output + "; expected " + outputOf(network) +
                                             ", whose loop with an exit gate gives the other visits");
    } else if (!gatedLoop(network.stack())) {
        problems.error(path + "/kind", "weighs visits by an exit gate, which no loop of the tower " + network.name +
                                           " has; expected a loop with exit_gate, or the kind cross_entropy");
    } else if (const Shape& states = values.at(statesOf(network));
               states.dims.size() != values.at(loss.output).dims.size()) {
        problems.error(path + "/output", loss.output + " is " + values.at(loss.output).text() + ", the states " +
                                             states.text() +
                                             "; expected an output for each of the states, which "
                                             "leave at visits of their own");
    } else if (network.ownLoss == OwnLoss::Trained) {
        problems.warning(path + "/kind", "trains the last visit beside the objective, which trains it too; own_loss "
                                         "\"measured\" trains the expected loss alone");
    }
}

/// Checks what a loss that compares the examples of a batch needs.
void checkContrast(const TrainingPlan& plan, const Loss& loss, const Shape& output, const std::string& path,
                   Problems& problems)
{
    if (output.dims.size() != 2) {
        problems.error(path + "/output", loss.output + " is " + output.text() +
                                             "; expected a vector for each example, such as the output of a head "
                                             "that ends in a mean over the tokens");
    }
    if (plan.batching == BatchKind::Random && plan.batch < 2) {
        problems.error("/training/batch",
                       "loss " + loss.name + " tells an example from the others of its batch; expected at least 2");
    }
    if (plan.accumulate > 1) {
        problems.error("/training/accumulate",
                       "got " + std::to_string(plan.accumulate) + "; loss " + loss.name +
                           " compares all examples of a step with each other; expected 1 and a larger batch");
    }
}

/// Checks a loss between two values, or between a value and the examples' target.
void checkLoss(const Project& project, const std::map<std::string, Shape>& values, const Loss& loss,
               const std::string& path, Problems& problems)
{
    const auto output = values.find(withoutExit(loss.output));
    const auto target = values.find(withoutExit(loss.target));
    const ExampleField data = examplesOf(project).target();
    const auto expected = [&values] { return "is no value; expected one of " + joinedText(std::views::keys(values)); };
    if (output == values.end()) {
        problems.error(path + "/output", "\"" + loss.output + "\" " + expected());
        return;
    }
    if (!hasTarget(loss.kind)) {
        checkExit(project, loss.output, path + "/output", problems);
        return;
    }
    if (!loss.target.empty() && target == values.end()) {
        problems.error(path + "/target",
                       "\"" + loss.target + "\" " + expected() + ", or nothing for the examples' target");
        return;
    }
    checkExit(project, loss.output, path + "/output", problems);
    checkExit(project, loss.target, path + "/target", problems);
    const bool ofTokens = loss.kind == LossKind::CrossEntropy || loss.kind == LossKind::ExpectedExit;
    const Shape wanted = !loss.target.empty() ? target->second : ofTokens ? examplesOf(project).output() : data.shape;
    if (ofTokens != (loss.target.empty() && data.isTokens())) {
        problems.error(path + "/target",
                       ofTokens ? "cross-entropy needs the tokens or labels of the examples; expected nothing, and "
                                  "such examples"
                                : "got the examples' tokens, expected a value of a tower");
    } else if (wanted.dims != output->second.dims) {
        problems.error(
            path + "/output",
            loss.output + " is " + output->second.text() + ", its target " + wanted.text() +
                "; expected the same shape" +
                (loss.kind == LossKind::SoftTargets ? ", such as that of a teacher with the same vocabulary" : ""));
    } else if (loss.kind == LossKind::ExpectedExit) {
        checkExpected(project, values, loss, path, problems);
    } else if (loss.kind == LossKind::Contrastive) {
        checkContrast(project.training, loss, output->second, path, problems);
    }
}

/// Returns the towers that have the values of the loss, and all that they read.
std::set<std::size_t> towersOf(const Project& project, const Loss& loss)
{
    std::set<std::size_t> towers{towerOfValue(project, loss.output)};
    if (trainsTarget(loss.kind)) {
        towers.insert(towerOfValue(project, loss.target));
    }
    towers.erase(towerCount(project)); // of names without a tower
    return reachOf(project, std::move(towers));
}

void checkLosses(const Project& project, Problems& problems)
{
    const std::map<std::string, Shape> values = valuesOf(project);
    std::set<std::string> names{"loss"};
    for (std::size_t i = 0; i < project.losses.size(); ++i) {
        const Loss& loss = project.losses[i];
        const std::string path = "/losses/" + std::to_string(i);
        if (loss.name.empty() || loss.name.find('/') != std::string::npos || !names.insert(loss.name).second) {
            problems.error(path + "/name",
                           "is \"" + loss.name + "\"; expected a name of its own without slashes, other than loss");
        }
        for (const std::string& name : loss.trains) {
            const std::size_t tower = towerNamed(project, name);
            if (tower == towerCount(project)) {
                problems.error(path + "/trains", "loss " + loss.name, "there is no tower " + name);
            } else if (const std::string& weights = towerAt(project, tower).weights; !weights.empty()) {
                problems.error(path + "/trains", "loss " + loss.name,
                               "trains the tower " + name + ", which uses the weights of " + weights +
                                   "; expected that tower");
            } else if (towerAt(project, tower).frozen) {
                problems.error(path + "/trains", "loss " + loss.name,
                               "trains the tower " + name +
                                   ", which is frozen; expected others, or a tower that is "
                                   "not frozen");
            }
        }
        checkLoss(project, values, loss, path, problems);
        if (towerOfValue(project, loss.output) < towerCount(project)) {
            const bool trains = std::ranges::any_of(towersOf(project, loss), [&](std::size_t tower) {
                const Network& network = towerAt(project, tower);
                return !network.frozen &&
                       (loss.trains.empty() || std::ranges::find(loss.trains, network.name) != loss.trains.end());
            });
            if (!trains && loss.weight > 0) {
                problems.error(
                    path, "loss " + loss.name,
                    "trains no tower: its output " + loss.output +
                        (trainsTarget(loss.kind) && !loss.target.empty() ? " and its target come" : " comes") +
                        " from towers that are frozen or not named by \"trains\"");
            }
        }
    }
    problems.checkRanges("/losses");
}

/// Warns of exit gates that nothing trains.
void checkGates(const Project& project, Problems& problems)
{
    for (std::size_t index = 0; index < towerCount(project); ++index) {
        const Network& network = towerAt(project, index);
        const std::optional<std::size_t> gated = gatedLoop(network.stack());
        const bool isRead = std::ranges::any_of(project.losses, [&](const Loss& loss) {
            return loss.kind == LossKind::ExpectedExit && loss.output == outputOf(network);
        });
        if (gated && !isRead) {
            problems.warning(pointerOfView(index, "/network/loops/" + std::to_string(*gated) + "/exit_gate"),
                             "is on, but no loss of the kind expected_exit weighs the visits of " + outputOf(network) +
                                 " by it, so that it does not train");
        }
    }
}

/// Checks the tower whose objective judges the run.
void checkJudge(const Project& project, Problems& problems)
{
    const std::string path = "/training/judged_by";
    const std::string& name = project.training.judgedBy;
    if (const Result<std::size_t> chosen = chosenTower(project, name); !chosen) {
        problems.error(path, chosen.error().message);
        return;
    }
    const std::size_t judge = judgingTower(project);
    if (towerAt(project, judge).ownLoss == OwnLoss::None) {
        std::vector<std::string> names;
        for (std::size_t index = 0; index < towerCount(project); ++index) {
            if (towerAt(project, index).ownLoss != OwnLoss::None) {
                names.push_back(towerAt(project, index).name);
            }
        }
        if (name.empty()) {
            problems.error("/network/own_loss",
                           "is none, but the first tower judges the run; expected a loss" +
                               (names.empty() ? "" : ", or training.judged_by " + joinedText(names, " or ")));
        } else {
            problems.error(path, "names the tower " + name + ", whose own_loss is none; expected " +
                                     (names.empty() ? "a tower with a loss of its own" : joinedText(names, " or ")));
        }
    } else if (judge > 0 && examplesOf(project).isOfWorld()) {
        problems.error(path, "names the tower " + name + "; expected nothing, because " + project.network.name +
                                 ", the first one, acts in the world, which judges the run");
    } else if (judge > 0 && project.training.stabilityEvery > 0 && !reachOf(project, {judge}).contains(0)) {
        problems.error("/training/stability_every",
                       "measures layers of " + project.network.name + ", of which " + name +
                           ", which judges the run, reads no value; expected 0, or another tower in judged_by");
    }
}

/// Checks that examples hide what the tower's objective predicts, which the first tower's objective decides.
void checkHidden(const Project& project, std::size_t index, Problems& problems)
{
    const Network& network = towerAt(project, index);
    const ObjectiveTraits& objective = traitsOf(network.objective);
    const bool changesExamples = objective.targetOf == TargetOf::Hidden || objective.denoises;
    if (network.ownLoss != OwnLoss::None && changesExamples && network.objective != project.network.objective) {
        problems.error(pointerOfView(index, "/network/objective"),
                       "is " + std::string(objective.title) +
                           ", but examples are those of the first tower's objective, " +
                           std::string(traitsOf(project.network.objective).title) + "; expected the same objective");
    }
}

} // namespace

void validateTowers(const Project& project, Problems& problems)
{
    checkJudge(project, problems);
    checkGates(project, problems);
    if (project.network.frozen && project.towers.empty()) {
        problems.error("/network/frozen", "leaves nothing to train");
    }
    if (project.towers.empty() && project.losses.empty() && project.network.input.empty()) {
        return;
    }
    checkNames(project, problems);
    if (const Result<std::vector<std::size_t>> order = runOrder(project); !order) {
        problems.error("/towers", order.error().place, order.error().message);
        return;
    }
    for (std::size_t index = 0; index < towerCount(project); ++index) {
        checkInput(viewOf(project, index), index, problems);
        const Network& network = towerAt(project, index);
        if (network.frozen && grows(network.stack().schedule)) {
            problems.error(pointerOfView(index, "/schedule"),
                           "makes a frozen tower grow, whose new layers would not train; expected a tower that is not "
                           "frozen, or no growth");
        }
        if (index > 0) {
            checkTower(project, index, problems);
            checkHidden(project, index, problems);
        }
        checkWeights(project, index, problems);
    }
    checkLosses(project, problems);
    const std::set<std::size_t> needed = neededTowers(project);
    for (std::size_t index = 0; index < towerCount(project); ++index) {
        if (!needed.contains(index)) {
            problems.warning(pointerOfView(index, "/network/own_loss"),
                             "is none, and no loss needs the tower's values: it does not run");
        }
    }
}

} // namespace residua::projects
