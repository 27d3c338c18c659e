// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/block/block_scene.h"
#include "editor/canvas/canvas.h"
#include "projects/commands/graph_edits.h"

#include <memory>
#include <optional>
#include <string>

namespace residua::editor {

/// The inside of a block, stem or head: nodes and typed wires. It shows the graph that the selection names, else the
/// block of the one selected layer; without either it stays where it is.
class BlockCanvas : public Canvas {
public:
    /// What is shown; empty where the document has no such graph.
    [[nodiscard]] virtual const projects::GraphRef& graph() const = 0;
    /// Asks for a node of `kind` at a place on the screen, or where there is room near the middle of what is seen.
    virtual void addNode(const std::string& kind, std::optional<ScreenPoint> at) = 0;
    virtual void align(projects::Alignment alignment) = 0;

    [[nodiscard]] virtual std::optional<ScreenPoint> locateNode(projects::NodeId node) const = 0;
    [[nodiscard]] virtual std::optional<ScreenPoint> locatePort(const projects::PortRef& port,
                                                                projects::PortSide side) const = 0;
    using Canvas::locate;
};

[[nodiscard]] std::unique_ptr<BlockCanvas> makeBlockCanvas();

} // namespace residua::editor
