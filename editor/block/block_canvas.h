// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/block/block_scene.h"
#include "editor/canvas/canvas.h"
#include "projects/graphs/node_places.h"

#include <memory>

namespace residua::editor {

/// The inside of a block, stem or head: nodes and typed wires. It shows the graph that the selection names, else the
/// block of the one selected layer; without either it stays where it is.
class BlockCanvas : public Canvas {
public:
    /// The scene that is shown; its graph's name is empty where the document has none.
    [[nodiscard]] virtual const BlockScene& scene() const = 0;
    /// Where the nodes are seen, and the part of the graph that is in sight.
    [[nodiscard]] virtual projects::GraphView view() const = 0;
    /// The place in the graph that is drawn at `at`.
    [[nodiscard]] virtual projects::Position positionAt(ScreenPoint at) const = 0;

    [[nodiscard]] const projects::GraphRef& graph() const { return scene().graph(); }
};

[[nodiscard]] std::unique_ptr<BlockCanvas> makeBlockCanvas();

} // namespace residua::editor
