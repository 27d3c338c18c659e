// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/canvas.h"
#include "editor/canvas/paint_tools.h"
#include "editor/scenes/live_weights.h"
#include "editor/scenes/matrix_scene.h"
#include "editor/scenes/viewport.h"

#include <imgui.h>

#include <cstdint>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

namespace residua::editor {

/// The space for the axes' numbers and titles at the left and top of the grid, on the screen.
inline constexpr float kMatrixAxis = 52;
inline constexpr float kMatrixPorts = 40; ///< additional space at the top if there are several ports

/// A stroke over the grid that is not finished.
struct MatrixStroke {
    enum class Does { Add, Prune };
    Does does = Does::Add;
    std::set<projects::Shortcut> cells;
};

/// Colours for cells that are too small to see: one for each block of `side` by `side` cells, that of the strongest
/// cell, so that no strong cell is lost by sampling. Kept between frames until the content changes.
struct MatrixBlocks {
    std::tuple<std::int64_t, projects::MixPort, LiveMeasure, resources::Theme, std::uint64_t, std::uint64_t> of{};
    std::vector<ImU32> colours; ///< row-major [target, source] in blocks; 0: empty
};

/// All data for drawing one frame of the matrix.
struct MatrixPicture {
    const MatrixScene& scene;
    const Viewport& view;
    const projects::Selection& selection;
    const LiveWeights& weights;
    const projects::Project& project;
    const MatrixStroke& stroke;
    MatrixBlocks& blocks;
    projects::MixPort port = projects::MixPort::Input;
    LiveMeasure measure = LiveMeasure::Mean;
    std::optional<projects::Shortcut> hovered;
    std::optional<projects::Shortcut> cursor; ///< of the keyboard
    resources::Theme theme = resources::Theme::Light;
    float width = 0;
    float height = 0;
    float top = kMatrixAxis; ///< bottom of the column numbers
};

void paintMatrix(ImDrawList& list, const MatrixPicture& picture);

} // namespace residua::editor
