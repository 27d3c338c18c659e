// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/pictures/picture.h"

#include <cstdint>
#include <string>
#include <vector>

namespace residua::engine {

/// A seeded generator of pictures that hold two different parts out of five: disc, ring, square, triangle, cross. The
/// class is the pair of parts, so no single part tells it. Place, size, turn and colour of the parts, the background
/// and the noise do not depend on the class.
struct PictureDrawing {
    std::int64_t size = 32; ///< height and width in pixels
    double noise = 0.1;     ///< standard deviation of the noise of each value, where the range is 1
};

/// Returns the names of the classes by label: "disc+ring".
[[nodiscard]] std::vector<std::string> drawnClasses();
/// Returns the label of picture `index`. Any ten pictures from a multiple of ten have one of each class.
[[nodiscard]] std::int64_t drawnLabel(std::int64_t seed, std::uint64_t index);
/// Draws picture `index` in colour: a function of the arguments alone.
[[nodiscard]] Picture drawPicture(const PictureDrawing& drawing, std::int64_t seed, std::uint64_t index);

} // namespace residua::engine
