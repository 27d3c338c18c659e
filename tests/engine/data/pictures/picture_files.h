// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/pictures/picture.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace residua::engine {

/// Writes a file, and its folders if they are missing.
void writeFile(const std::filesystem::path& path, const std::string& bytes);

/// Returns a picture in which each value tells its place.
[[nodiscard]] Picture ramp(std::int64_t height, std::int64_t width, std::int64_t channels);

// Files of pictures, as bytes. PNG may also have 4 channels (with opacity), WebP has 3 and is lossless.
[[nodiscard]] std::string pngOf(const Picture& picture);
[[nodiscard]] std::string jpegOf(const Picture& picture);
[[nodiscard]] std::string webpOf(const Picture& picture);
/// Returns a PNG file with 16 bits per value.
[[nodiscard]] std::string deepPng();
/// Returns a JPEG file of a picture with 4 channels.
[[nodiscard]] std::string cmykJpegOf(const Picture& picture);
/// Returns the beginning of an animated WebP file.
[[nodiscard]] std::string animatedWebp();

} // namespace residua::engine
