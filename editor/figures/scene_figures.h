// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/figures/figure.h"
#include "editor/scenes/block_scene.h"
#include "editor/scenes/depth_picture.h"
#include "editor/scenes/folds.h"
#include "editor/scenes/live_weights.h"
#include "projects/edit/edit.h"
#include "projects/model/places.h"

#include <vector>

// The canvases as figures: what they show, in the width of a column and with text of a size for print.
namespace residua::editor {

/// The contents of a canvas of the topology.
struct TopologyView {
    const projects::Document& document;
    const LiveWeights& weights;
    std::vector<DepthPort> ports; ///< depth canvas: those shown; the matrix shows the first of these
    std::vector<LayerRun> folds = {};
    LiveMeasure measure = LiveMeasure::Mean; ///< of the matrix
};

/// Draws the stack with every arc, however many.
[[nodiscard]] Result<Figure> depthFigure(const TopologyView& view, const FigureStyle& style);
/// Draws the matrix of a port. Returns an error if the topology has no matrix.
[[nodiscard]] Result<Figure> matrixFigure(const TopologyView& view, const FigureStyle& style);
/// Draws a graph as the scene has it. Returns an error if it has no nodes.
[[nodiscard]] Result<Figure> blockFigure(const BlockScene& scene, const FigureStyle& style);
/// Draws the inside of a block, the stem or the head. Returns an error if there is no such graph.
[[nodiscard]] Result<Figure> blockFigure(const projects::Document& document, const projects::GraphRef& graph,
                                         const FigureStyle& style);

} // namespace residua::editor
