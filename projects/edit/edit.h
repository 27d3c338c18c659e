// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/places.h"
#include "projects/model/project.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace residua::projects {

/// Edits are values. Applying one gives the edit that undoes it, so an undo step is a value too and
/// never holds a view. What an edit leaves invalid is still a document: validate() says so. Refused is
/// only what a file could not hold (twin ids or names, NaN, broken UTF-8) and what is not there to be changed.

/// Gives the field, or the whole part, at a JSON pointer into project.json a value. Refused for what belongs to a
/// graph, which has edits of its own.
struct SetField {
    std::string pointer;
    FieldValue value;
};
struct SetSchedule {
    StageSchedule schedule;
};
/// Replaces all of the document's studies. Edits that give nodes or blocks other indices change those in them too.
struct SetSweeps {
    std::vector<Sweep> sweeps;
};
struct SetTopology {
    Topology topology;
};

/// If the sources are not explicit, replaces them by the explicit set of all that are read now (without the summed
/// middle), then adds the shortcut; a pruned one is read again. Refused where no layer or final mix could read it.
struct AddShortcut {
    Shortcut shortcut;
};
/// Makes the sources explicit as AddShortcut does, then removes the shortcut and its state.
struct RemoveShortcut {
    Shortcut shortcut;
};
/// Sets the state of a shortcut; nullopt: it is as its neighbours are.
struct SetShortcutState {
    Shortcut shortcut;
    std::optional<ShortcutState> state;
};

struct SetStack {
    std::vector<StackSegment> stack;
};
/// Adds the block at `index` (or last), or replaces the one of that name where it is.
struct PutBlock {
    Block block;
    std::size_t index = SIZE_MAX;
};
/// Removes a block with its positions. Refused while a layer uses it.
struct RemoveBlock {
    std::string name;
};
/// Renames a block, in the stack and the layout too.
struct RenameBlock {
    std::string from;
    std::string to;
};

/// Adds a node at `index` among the nodes, or last.
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
/// Renames a node, for the nodes that use its weights too.
struct RenameNode {
    GraphRef graph;
    NodeId node{};
    std::string name;
};
/// Sets a parameter of a node; nullopt: back to the kind's default.
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
/// Moves a node; nullopt: back to the automatic layout.
struct MoveNode {
    GraphRef graph;
    NodeId node{};
    std::optional<Position> position;
};

/// Replaces all the named runs of layers.
struct SetLayerGroups {
    std::vector<LayerGroup> groups;
};

struct EditGroup;
using Edit = std::variant<SetField, SetSchedule, SetTopology, AddShortcut, RemoveShortcut, SetShortcutState, SetStack,
                          PutBlock, RemoveBlock, RenameBlock, AddNode, RemoveNode, RenameNode, SetParam, AddWire,
                          RemoveWire, SetGraph, MoveNode, SetSweeps, SetLayerGroups, EditGroup>;
/// Several edits that are one to the user. Applied in order; if one fails, none is.
struct EditGroup {
    std::string title;
    std::vector<Edit> edits;
};

/// The document with its layout, as edits see it.
struct Document {
    Project project;
    Layout layout;
    bool operator==(const Document&) const = default;
};

/// Applies `edit`. On error the document is untouched. Undo is by snapshots (History).
[[nodiscard]] Status applyEdit(Document& document, const Edit& edit);

/// What a menu says: "Add shortcut 3:7".
[[nodiscard]] std::string titleOf(const Edit& edit);

} // namespace residua::projects
