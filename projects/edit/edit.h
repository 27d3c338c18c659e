// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/places.h"
#include "projects/model/project.h"
#include "projects/schema/fields.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace residua::projects {

/// Edits are values. An edit may leave an invalid document, which validate() reports. An edit fails only if a file
/// could not contain the result (duplicate ids or names, NaN, invalid UTF-8) or if the target does not exist.

/// Sets the field, or a whole part, at a JSON pointer into project.json. Fails for fields of a graph, which has edits
/// of its own.
struct SetField {
    std::string pointer;
    FieldValue value;
};
struct SetSchedule {
    StageSchedule schedule;
};
/// Replaces all sweeps. Edits that change the indices of nodes or blocks update the sweeps too.
struct SetSweeps {
    std::vector<Sweep> sweeps;
};
struct SetTopology {
    Topology topology;
};

/// If the sources are not explicit, replaces them by the explicit set of all current sources (without the summed
/// middle). Then adds the shortcut, or restores it if it is pruned. Fails if no layer or final mix could read it.
struct AddShortcut {
    Shortcut shortcut;
};
/// Makes the sources explicit as AddShortcut does, then removes the shortcut and its state.
struct RemoveShortcut {
    Shortcut shortcut;
};
/// Sets the state of a shortcut; nullopt removes its state.
struct SetShortcutState {
    Shortcut shortcut;
    std::optional<ShortcutState> state;
};

struct SetStack {
    std::vector<StackSegment> stack;
    std::vector<Loop> loops = {};
    /// The executed layers of the stack before that are not in this one, if it has all the others in their order.
    std::vector<std::int64_t> removed = {};
};
/// Adds the block at `index` (by default last), or replaces the block with the same name.
struct PutBlock {
    Block block;
    std::size_t index = SIZE_MAX;
};
/// Removes a block and its positions. Fails while a layer uses it.
struct RemoveBlock {
    std::string name;
};
/// Renames a block, also in the stack and the layout.
struct RenameBlock {
    std::string from;
    std::string to;
};

/// Adds a node at `index`, by default last.
struct AddNode {
    GraphRef graph;
    Node node;
    std::optional<Position> position;
    std::size_t index = SIZE_MAX;
};
/// Removes a node with its wires and its position.
struct RemoveNode {
    GraphRef graph;
    NodeId node{};
};
/// Renames a node, also in the nodes that use its weights.
struct RenameNode {
    GraphRef graph;
    NodeId node{};
    std::string name;
};
/// Sets a parameter of a node; nullopt restores the kind's default.
struct SetParam {
    GraphRef graph;
    NodeId node{};
    std::string param;
    std::optional<ParamValue> value;
};
struct AddWire {
    GraphRef graph;
    Wire wire;
};
struct RemoveWire {
    GraphRef graph;
    Wire wire;
};
struct SetGraph {
    GraphRef graph;
    Graph value;
};
/// Moves a node; nullopt restores the automatic layout.
struct MoveNode {
    GraphRef graph;
    NodeId node{};
    std::optional<Position> position;
};

/// Replaces all named ranges of layers.
struct SetLayerGroups {
    std::vector<LayerGroup> groups;
};

/// Adds a tower, last, with its layout.
struct AddTower {
    Tower tower;
    TowerLayout layout = {};
};
/// Removes the tower at `index` of Project::towers, and its layout. Names of its values stay where they are read.
struct RemoveTower {
    std::size_t index = 0;
};
/// Replaces all further losses.
struct SetLosses {
    std::vector<Loss> losses;
};

struct EditGroup;
using Edit =
    std::variant<SetField, SetSchedule, SetTopology, AddShortcut, RemoveShortcut, SetShortcutState, SetStack, PutBlock,
                 RemoveBlock, RenameBlock, AddNode, RemoveNode, RenameNode, SetParam, AddWire, RemoveWire, SetGraph,
                 MoveNode, SetSweeps, SetLayerGroups, AddTower, RemoveTower, SetLosses, EditGroup>;
/// Several edits as one step for the user. Applied in order; if one fails, none is applied.
struct EditGroup {
    std::string title;
    std::vector<Edit> edits;
    /// The tower that the edits are of, by index (projects/nodes/towers.h): they apply to showTower() of the document.
    std::size_t tower = 0;
};

/// The document with its layout.
struct Document {
    Project project;
    Layout layout;
    bool operator==(const Document&) const = default;
};

/// Exchanges the first tower and its layout with those of tower `index` (viewOf). Its own inverse; does nothing for an
/// index without a tower.
void showTower(Document& document, std::size_t index);

/// Applies `edit`. On an error the document is unchanged. Undo uses snapshots (History).
[[nodiscard]] Status applyEdit(Document& document, const Edit& edit);

/// Returns the title for menus: "Add shortcut 3:7".
[[nodiscard]] std::string titleOf(const Edit& edit);

/// Returns the edit that sets the field at `pointer`, even out of its range. Returns an error if there is no such
/// field, if the value is not of its type, or if it is a field of a graph, which has edits of its own. Setting the
/// full-model phase of a schedule with stages moves their borders too (withFullModelSteps), and setting the steps of
/// the training scales them (stretched).
[[nodiscard]] Result<Edit> fieldEdit(const Project& project, std::string_view pointer, const FieldScalar& value);

} // namespace residua::projects
