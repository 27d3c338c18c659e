// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/reading.h"
#include "projects/base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
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
    bool wasTransparent = false; ///< as its file was read: some values were laid on a background
};

/// Returns the picture in another form: scales it so that it covers the form, by the mean of the covered area if it
/// shrinks and by bilinear interpolation if it grows, and crops the centre. Grey is repeated in each channel; colour
/// becomes grey by Rec. 601 luma, rounded as Pillow does, by the first reading otherwise. Returns an equal picture if
/// it has that form.
[[nodiscard]] Picture fitted(Picture picture, const PictureForm& form, ReadingVersion reading = kNewestReading);
/// Returns the same, but with each side scaled by itself, so that nothing is cropped.
[[nodiscard]] Picture stretched(Picture picture, const PictureForm& form, ReadingVersion reading = kNewestReading);

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

/// The largest number of pixels of a picture that is read.
inline constexpr std::int64_t kMostPixels = std::int64_t{1} << 27;

/// Reads a PNG, JPEG or WebP file as grey or colour of 8 bits, with the values that Pillow gives: values are not
/// converted by gamma or colour profile, palettes become colour, of 16 bits the upper 8 are kept, and the picture is
/// turned as its EXIF orientation says. A transparent value becomes value · opacity / 255, as on black. The first bytes
/// decide the format. Returns an error with the path as its place if the file is empty, truncated or damaged, is
/// another format, is animated, is CMYK, has no pixels or more than kMostPixels, or if its name ends as that of another
/// format. By the first reading, gamma is applied, transparent pixels are laid on white, orientations are ignored and
/// 16 bits are an error. Any thread.
[[nodiscard]] Result<Picture> readPicture(const std::filesystem::path& path, ReadingVersion reading = kNewestReading);

// The decoders of each format. The message of an error has no place.
[[nodiscard]] Result<Picture> decodePng(std::span<const std::byte> bytes, ReadingVersion reading = kNewestReading);
[[nodiscard]] Result<Picture> decodeJpeg(std::span<const std::byte> bytes, ReadingVersion reading = kNewestReading);
[[nodiscard]] Result<Picture> decodeWebp(std::span<const std::byte> bytes, ReadingVersion reading = kNewestReading);

/// Returns the orientation in an EXIF block (a TIFF header and its first directory, also after "Exif\0\0"), 1 to 8; 1
/// if it has none.
[[nodiscard]] int orientationIn(std::span<const std::byte> exif);
/// Returns the picture turned upright from an EXIF orientation of 1 to 8.
[[nodiscard]] Picture upright(Picture picture, int orientation);
/// Returns a picture of values with opacity as their last channel, [pixels, channels + 1], laid on a background.
[[nodiscard]] Picture laidOn(int background, const PictureForm& form, std::span<const std::uint8_t> values);

/// Returns the picture as a PNG file.
[[nodiscard]] std::string encodedPng(const Picture& picture);

} // namespace residua::engine
