// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

namespace residua::editor {

/// Pixels of a picture, rows from the top: red, green, blue and opacity a byte each, colours not multiplied by it.
struct CanvasImage {
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> pixels; ///< [height, width, 4]
};

} // namespace residua::editor
