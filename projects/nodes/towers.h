// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/project.h"
#include "projects/nodes/shape.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// The towers of a document, by index: 0 is Project::network, k is Project::towers[k - 1].
namespace residua::projects {

/// Returns the name of a tower's value: "encoder.states", the output of its stack; "encoder.output", that of its head;
/// "encoder.time", that of a further output port of its stem or head.
[[nodiscard]] std::string valueOf(const Network& network, std::string_view port);
[[nodiscard]] std::string statesOf(const Network& network);
[[nodiscard]] std::string outputOf(const Network& network);
/// Returns the output ports of a stem or a head besides the main one, in the document's order.
[[nodiscard]] std::vector<std::string> furtherPorts(const Graph& graph);

/// The parts of a value's name. At an exit, "network.states@3" is the residual after layer 3 (layerName), as if a loop
/// that a visit ends there had no further one, and "network.output@3" the head's output for it. Losses read them.
struct ValueName {
    std::string tower;
    std::string port; ///< "states", "output", or a further output port
    std::string exit; ///< the layer's name; empty: the end of the stack
    [[nodiscard]] bool isStates() const;
    [[nodiscard]] std::string text() const;
    [[nodiscard]] std::string withoutExit() const; ///< the text without the exit
};
/// Returns the name of the value `value`, states or output, after an executed layer.
[[nodiscard]] std::string exitOf(const std::string& value, const Stack& stack, std::int64_t layer);
/// Parses the name of a value; nullopt if the text cannot be one.
[[nodiscard]] std::optional<ValueName> valueNameFrom(std::string_view text);
/// Returns the index in Stack::loops of the loop with an exit gate, the first if there are several; nullopt if there is
/// none.
[[nodiscard]] std::optional<std::size_t> gatedLoop(const Stack& stack);
/// An exit of a tower that losses, or the exit gate, read.
struct UsedExit {
    std::int64_t layer = 1;   ///< executed layer, after which it is
    bool givesOutput = false; ///< true if the head's output for it is read
};
/// Returns the exits of a tower, by their layers, ascending: of the losses, and of the visits but the last one of the
/// loop with an exit gate.
[[nodiscard]] std::vector<UsedExit> usedExits(const Project& project, const Network& network);
/// Returns the names of the values at exits of all towers, of at most kMostListedExits layers of each.
[[nodiscard]] std::vector<std::string> exitNames(const Project& project);
inline constexpr std::int64_t kMostListedExits = 128;
/// Returns the losses with the names that exits of the first tower have in its new stack `after`, without those at
/// layers that are gone. `layerTo` returns the new number of an executed layer; nullopt if it is gone.
[[nodiscard]] std::vector<Loss>
renumberedLosses(const Project& project, const Stack& after,
                 const std::function<std::optional<std::int64_t>(std::int64_t)>& layerTo);

[[nodiscard]] std::size_t towerCount(const Project& project);
[[nodiscard]] const Network& towerAt(const Project& project, std::size_t index);
/// Returns the index of the tower with this name; towerCount() if there is none.
[[nodiscard]] std::size_t towerNamed(const Project& project, std::string_view name);
/// Returns the index of the tower whose weights tower `index` uses, the tower itself unless Network::weights names
/// another; towerCount() if there is no such tower.
[[nodiscard]] std::size_t weightsOwner(const Project& project, std::size_t index);
/// Returns the index of the tower that has the value; towerCount() if there is none.
[[nodiscard]] std::size_t towerOfValue(const Project& project, std::string_view value);

/// Returns the document with tower `index` in the place of the first one, which takes its place. All code for the first
/// tower then applies to it. Its own inverse.
[[nodiscard]] Project viewOf(Project project, std::size_t index);
/// Returns the pointer in the document of what has the pointer `pointer` in the view: "/towers/0/stem" for
/// "/network/stem". Its own inverse.
[[nodiscard]] std::string pointerOfView(std::size_t index, std::string_view pointer);

/// Returns the name in the document of what is called `name` in the view of tower `index`, a parameter or a recorded
/// matrix: "teacher.layers.1.up.weight" for "layers.1.up.weight". Given the document, its own inverse.
[[nodiscard]] std::string nameOfView(const Project& view, std::size_t index, std::string_view name);

/// A field in the view of a tower.
struct ViewedField {
    std::size_t tower = 0;
    std::string pointer; ///< in the view
};
/// Returns the view of a field that is typed as "/towers/0/width" or by the tower's name, "/teacher/width". Other
/// pointers are those of the first tower's view, which is the document.
[[nodiscard]] ViewedField viewedField(const Project& project, std::string_view pointer);

/// Returns the index of the tower with this name, 0 if it is empty. The error lists the towers.
[[nodiscard]] Result<std::size_t> chosenTower(const Project& project, std::string_view name);
/// Returns the index of the tower whose objective judges the run: TrainingPlan::judgedBy, or 0 if it names no tower.
[[nodiscard]] std::size_t judgingTower(const Project& project);
/// Returns its objective.
[[nodiscard]] Objective judgingObjective(const Project& project);
/// Returns the metric of that objective, by which runs of the document are compared.
[[nodiscard]] const Judge& judgeOfRuns(const Project& project);
/// Returns the tower whose objective measures the effects of tower `index`: judgingTower() if it reads values of it,
/// also through others, else the tower itself. Returns an error if the latter has no objective.
[[nodiscard]] Result<std::size_t> judgeOf(const Project& project, std::size_t index);
/// Returns a document of tower `index` alone, with its objective. The error says why there is none.
[[nodiscard]] Result<Project> aloneOf(Project project, std::size_t index);

/// Returns an error unless the document has one tower, as `what`, such as "an export", needs.
[[nodiscard]] Status checkOneTower(const Project& project, std::string_view what);

/// Returns the values that the tower reads before it runs, as input and at ports of its graphs: those of other towers,
/// and any of its own but the further ports of its stem that its blocks and its head read.
[[nodiscard]] std::vector<std::string> readValues(const Project& project, std::size_t index);
/// True if a graph, a tower's input or a loss reads the value.
[[nodiscard]] bool isRead(const Project& project, const std::string& value);
/// Returns the towers in an order in which each comes after those whose values or weights it uses, the first one as
/// late as possible. The error names those that read each other.
[[nodiscard]] Result<std::vector<std::size_t>> runOrder(const Project& project);
/// Returns runOrder(), or the document's order if the towers read each other.
[[nodiscard]] std::vector<std::size_t> shownOrder(const Project& project);
/// Returns these towers and all whose values or weights they use, also through others.
[[nodiscard]] std::set<std::size_t> reachOf(const Project& project, std::set<std::size_t> towers);
/// Returns the towers whose values the losses and objectives need.
[[nodiscard]] std::set<std::size_t> neededTowers(const Project& project);
/// Returns those, the first one, whose output the run has, and all that they use.
[[nodiscard]] std::set<std::size_t> usedTowers(const Project& project);

/// The losses of a document whose gradients go to the same towers.
struct LossGroup {
    std::set<std::size_t> trains; ///< towers, by index
    std::vector<Loss> losses;     ///< further ones
    bool hasObjectives = false;   ///< true if it has the towers' objectives
};

/// Returns the groups, the one with the objectives first. Towers that a group does not train pass gradients on.
[[nodiscard]] std::vector<LossGroup> lossGroupsOf(const Project& project);

/// Returns what the input ports of the first tower's graphs may read besides the entries, by name: the examples'
/// conditions and masks, the values of the towers that run before it, and those of its own stem's further ports, which
/// its blocks and its head may read.
[[nodiscard]] std::map<std::string, Shape> conditionsOf(const Project& project);
/// Returns the shapes of the values of all towers, as far as they can be resolved.
[[nodiscard]] std::map<std::string, Shape> valuesOf(const Project& project);
/// Returns the shape that enters the stem of the first tower: that of the examples' input, or of another tower's value.
/// If there is no such value, that of the examples' input.
[[nodiscard]] Shape enteringShapeOf(const Project& project);

} // namespace residua::projects
