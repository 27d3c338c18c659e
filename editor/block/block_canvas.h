// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The interface alone: users of the canvas do not see how it is drawn.

#include "editor/canvas/canvas.h"
#include "editor/scenes/block_scene.h"
#include "projects/graphs/node_places.h"

#include <memory>

namespace residua::editor {

/// The inside of a block, stem or head: nodes and typed wires. It shows the graph named by the selection, else the
/// block of the single selected layer. Without either, it keeps the current graph.
class BlockCanvas : public Canvas {
public:
    /// Returns the scene. The name of its graph is empty if the document has no such graph.
    [[nodiscard]] virtual const BlockScene& scene() const = 0;
    /// Returns the visible positions of the nodes and the visible part of the graph.
    [[nodiscard]] virtual projects::GraphView view() const = 0;
    /// Returns the position in the graph that is drawn at `at`.
    [[nodiscard]] virtual projects::Position positionAt(ScreenPoint at) const = 0;

    [[nodiscard]] const projects::GraphRef& graph() const { return scene().graph(); }
};

[[nodiscard]] std::unique_ptr<BlockCanvas> makeBlockCanvas();

} // namespace residua::editor
