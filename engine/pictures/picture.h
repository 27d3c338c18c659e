// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

namespace residua::engine {

/// Height and width in pixels, and 1 (grey) or 3 (red, green, blue) values per pixel.
struct PictureForm {
    std::int64_t height = 0;
    std::int64_t width = 0;
    std::int64_t channels = 0;

    [[nodiscard]] std::int64_t values() const { return height * width * channels; }
    bool operator==(const PictureForm&) const = default;
};

/// A picture of 8-bit values in the order [height, width, channels].
struct Picture {
    PictureForm form;
    std::vector<std::uint8_t> values;
};

/// Returns the picture in another form: scales it so that it covers the form, by the mean of the covered area if it
/// shrinks and by bilinear interpolation if it grows, and crops the centre. Grey is repeated in each channel; colour
/// becomes grey by Rec. 601 luma. Returns an equal picture if it has that form.
[[nodiscard]] Picture fitted(Picture picture, const PictureForm& form);
/// Returns the same, but with each side scaled by itself, so that nothing is cropped.
[[nodiscard]] Picture stretched(Picture picture, const PictureForm& form);

} // namespace residua::engine
