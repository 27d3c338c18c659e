// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/canvas.h"
#include "editor/canvas/paint_tools.h"
#include "editor/canvas/viewport.h"
#include "editor/matrix/matrix_scene.h"
#include "editor/shortcuts/live_weights.h"

#include <imgui.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace residua::editor {

/// Room that the axes' numbers and titles take at the left and the top of the grid, on the screen.
inline constexpr float kMatrixAxis = 52;
inline constexpr float kMatrixPorts = 40; ///< more of it at the top, where there are several ports

/// A stroke over the grid that is not yet let go.
struct MatrixStroke {
    enum class Does { Add, Prune };
    Does does = Does::Add;
    std::set<projects::Shortcut> cells;
};

/// Colours where cells are smaller than can be seen: one for each block of `side` by `side` cells, that of the
/// strongest of them, so that none is sampled away. Kept from frame to frame until what they show changes.
struct MatrixBlocks {
    std::tuple<std::int64_t, projects::MixPort, LiveMeasure, resources::Theme, std::uint64_t, std::uint64_t> of{};
    std::vector<ImU32> colours; ///< row-major [target, source] in blocks; 0: nothing there
};

/// Everything that the drawing of one frame of the matrix reads.
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
    float top = kMatrixAxis; ///< where the column numbers end
};

void paintMatrix(ImDrawList& list, const MatrixPicture& picture);

} // namespace residua::editor
