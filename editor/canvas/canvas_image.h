// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

namespace residua::editor {

/// Pixels of a picture, rows from the top: one byte each for red, green, blue and opacity, not premultiplied.
struct CanvasImage {
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> pixels; ///< [height, width, 4]
};

} // namespace residua::editor
