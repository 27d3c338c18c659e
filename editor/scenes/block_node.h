// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/scenes/viewport.h"
#include "projects/model/places.h"
#include "projects/nodes/shape.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace residua::projects {
struct Project;
}

namespace residua::editor {

/// A dot on a node's edge: inputs below, outputs above.
struct BlockPort {
    enum class State {
        Wired,
        Free,  ///< an output without readers
        Empty, ///< an input that must be wired
        Spare, ///< the free input of a node with any number of inputs
    };
    std::string name;
    State state = State::Free;
    Point at;
};

/// A node as it is drawn.
struct BlockNode {
    projects::NodeId id{};
    std::string name;
    std::string kind;         ///< title of its kind
    std::string summary;      ///< the kind's one line
    std::string detail;       ///< key parameters: "out 1024 · bias"
    std::string weights;      ///< number of parameters: "174k"; empty if it has none or the number is unknown
    std::string error;        ///< reason why it computes nothing; empty if it does or its inputs are at fault
    std::size_t category = 0; ///< of the kind, in palette order
    enum class Form {
        Line, ///< name and kind beside each other, for a node without parameters to show
        Card,
    };
    Form form = Form::Card;
    bool namedPorts = false; ///< true if its inputs have different meanings and are labelled
    std::vector<BlockPort> inputs;
    std::vector<BlockPort> outputs;
    Rect rect;
};

/// The nodes of a graph with their texts and ports, without positions.
struct BlockContents {
    std::vector<BlockNode> nodes;                         ///< in the document's order
    std::map<projects::PortRef, projects::Shape> shapes;  ///< on every output with a known shape
    std::map<projects::PortRef, std::string> faultyPorts; ///< inputs with a faulty wire, with the message
};
[[nodiscard]] BlockContents describeBlock(const projects::Project& project, const projects::GraphRef& ref);

/// Formats a shape as it is written on a wire: "[B, T, 256]".
[[nodiscard]] std::string shortText(const projects::Shape& shape);
/// Formats a count briefly: "1.54k" for 1536.
[[nodiscard]] std::string shortCount(double count);

} // namespace residua::editor
