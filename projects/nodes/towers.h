// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/nodes/shape.h"

#include <cstddef>
#include <map>
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

[[nodiscard]] std::size_t towerCount(const Project& project);
[[nodiscard]] const Network& towerAt(const Project& project, std::size_t index);
/// Returns the index of the tower with this name; towerCount() if there is none.
[[nodiscard]] std::size_t towerNamed(const Project& project, std::string_view name);
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
/// Returns the tower whose objective tells what tower `index` does: the first one if it reads values of it, also
/// through others, else the tower itself. The error says that it has no objective.
[[nodiscard]] Result<std::size_t> judgeOf(const Project& project, std::size_t index);
/// Returns a document of tower `index` alone, with its objective. The error says why there is none.
[[nodiscard]] Result<Project> aloneOf(Project project, std::size_t index);

/// Returns an error unless the document has one tower and no further losses, as `what`, such as "an export", needs.
[[nodiscard]] Status checkOneTower(const Project& project, std::string_view what);

/// Returns the values that the tower reads before it runs, as input and at ports of its graphs: those of other towers,
/// and any of its own but the further ports of its stem that its blocks and its head read.
[[nodiscard]] std::vector<std::string> readValues(const Project& project, std::size_t index);
/// True if a graph, a tower's input or a loss reads the value.
[[nodiscard]] bool isRead(const Project& project, const std::string& value);
/// Returns the towers in an order in which each comes after those that it reads, the first one as late as possible. The
/// error names those that read each other.
[[nodiscard]] Result<std::vector<std::size_t>> runOrder(const Project& project);
/// Returns these towers and all that they read, also through others.
[[nodiscard]] std::set<std::size_t> reachOf(const Project& project, std::set<std::size_t> towers);
/// Returns the towers whose values the losses and objectives need.
[[nodiscard]] std::set<std::size_t> usedTowers(const Project& project);

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
