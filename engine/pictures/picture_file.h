// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/pictures/picture.h"
#include "projects/base/result.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace residua::engine {

/// The largest number of pixels of a picture that is read.
inline constexpr std::int64_t kMostPixels = std::int64_t{1} << 27;

/// Reads a PNG, JPEG or WebP file as grey or colour of 8 bits. The first bytes decide the format. Palettes become
/// colour; transparent pixels are laid on white. Returns an error with the path as its place if the file is empty,
/// truncated or damaged, is another format, is animated, has 16 bits per value, is CMYK, has no pixels or more than
/// kMostPixels, or if its name ends as that of another format. Any thread.
[[nodiscard]] Result<Picture> readPicture(const std::filesystem::path& path);

// The decoders of each format. The message of an error has no place.
[[nodiscard]] Result<Picture> decodePng(std::span<const std::byte> bytes);
[[nodiscard]] Result<Picture> decodeJpeg(std::span<const std::byte> bytes);
[[nodiscard]] Result<Picture> decodeWebp(std::span<const std::byte> bytes);

/// Returns the picture as a PNG file.
[[nodiscard]] std::string encodedPng(const Picture& picture);

} // namespace residua::engine
