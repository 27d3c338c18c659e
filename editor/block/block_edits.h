// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/viewport.h"
#include "projects/edit/edit.h"
#include "projects/file/block_file.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

// What may be done to the graph of a block, stem or head, as edits of the document. Nothing here knows a window.
namespace residua::editor {

/// `base`, or with the first number from 2 that makes it unlike any that is taken.
template <class Taken>
[[nodiscard]] std::string freeName(const std::string& base, Taken taken)
{
    std::string name = base;
    for (int i = 2; taken(name); ++i) {
        name = base + std::to_string(i);
    }
    return name;
}

/// A node of `kind` with an id and a name that are free in `graph`.
[[nodiscard]] projects::Node newNode(const projects::Graph& graph, const std::string& kind);

/// What drawing a wire would make of the graph.
struct WireCheck {
    bool possible = false; ///< it may be drawn: not onto itself, not in a circle, not there already
    bool fits = false;     ///< and its target can take what it carries
    std::string carries;   ///< "[batch, time, 256]"; empty where it is not known
    std::string message;   ///< why not; or what it takes the place of
};
[[nodiscard]] WireCheck checkWire(const projects::Project& project, const projects::GraphRef& ref,
                                  const projects::Wire& wire);
/// Adds `wire`; an input takes one, so what it read before goes, and so does `instead`, the wire that was picked up.
[[nodiscard]] std::vector<projects::Edit> wireEdits(const projects::Graph& graph, const projects::GraphRef& ref,
                                                    const projects::Wire& wire,
                                                    const std::optional<projects::Wire>& instead = {});

/// Takes nodes (with their wires) and wires out.
[[nodiscard]] std::vector<projects::Edit> removeEdits(const projects::GraphRef& ref,
                                                      const std::set<projects::NodeId>& nodes,
                                                      const std::set<projects::Wire>& wires);

/// The nodes with the wires among them and their places.
[[nodiscard]] projects::BlockFile fragmentOf(const projects::Graph& graph, const std::set<projects::NodeId>& nodes,
                                             const std::map<projects::NodeId, Point>& places);
/// Adds a fragment, moved by `by`: its nodes get ids and names of their own, its wires and shared weights follow them.
struct Insertion {
    std::vector<projects::Edit> edits;
    std::set<projects::NodeId> nodes; ///< the new ones
};
[[nodiscard]] Insertion insertEdits(const projects::Graph& graph, const projects::GraphRef& ref,
                                    const projects::BlockFile& fragment, Point by);

/// The edges and lines along which selected nodes can be brought together.
enum class Alignment { Left, Centre, Right, Top, Middle, Bottom };
[[nodiscard]] std::map<projects::NodeId, Point> aligned(const std::map<projects::NodeId, Rect>& nodes,
                                                        Alignment alignment);

} // namespace residua::editor
