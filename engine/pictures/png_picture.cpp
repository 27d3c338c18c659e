// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/pictures/picture.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include <png.h>

namespace residua::engine {
namespace {

constexpr std::size_t kSignature = 8;
constexpr std::size_t kHeader = kSignature + 8 + 13 + 4; ///< up to the end of the chunk IHDR

std::uint32_t bigEndian(std::span<const std::byte> bytes)
{
    std::uint32_t value = 0;
    for (const std::byte byte : bytes.first(4)) {
        value = value << 8U | std::to_integer<std::uint32_t>(byte);
    }
    return value;
}

/// True if a chunk acTL, which declares an animation, comes before the pixels.
bool isAnimated(std::span<const std::byte> bytes)
{
    bytes = bytes.subspan(kSignature);
    while (bytes.size() >= 12) {
        const auto is = [&](const char* name) { return std::memcmp(bytes.data() + 4, name, 4) == 0; };
        const std::size_t size = std::size_t{bigEndian(bytes)} + 12;
        if (is("acTL") || is("IDAT") || size > bytes.size()) {
            return is("acTL");
        }
        bytes = bytes.subspan(size);
    }
    return false;
}

Status checkHeader(std::span<const std::byte> bytes)
{
    if (bytes.size() < kHeader) {
        return Error{"", "is truncated"};
    }
    const std::uint64_t width = bigEndian(bytes.subspan(16));
    const std::uint64_t height = bigEndian(bytes.subspan(20));
    if (width == 0 || height == 0) {
        return Error{"", "has no pixels"};
    }
    if (width > std::uint64_t{kMostPixels} / height) {
        return Error{"", "has " + std::to_string(width) + " × " + std::to_string(height) +
                             " pixels, expected at most " + std::to_string(kMostPixels)};
    }
    if (bytes[24] == std::byte{16}) {
        return Error{"", "has 16 bits per value, expected 8"};
    }
    return isAnimated(bytes) ? Status(Error{"", "is animated, expected a single picture"}) : Status(Done{});
}

} // namespace

Result<Picture> decodePng(std::span<const std::byte> bytes)
{
    if (const Status checked = checkHeader(bytes); !checked) {
        return checked.error();
    }
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0) {
        return Error{"", std::string("cannot be decoded: ") + image.message};
    }
    const bool colour = (image.format & PNG_FORMAT_FLAG_COLOR) != 0;
    image.format = colour ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
    Picture picture{{image.height, image.width, colour ? 3 : 1}, {}};
    picture.values.resize(static_cast<std::size_t>(picture.form.values()));
    const png_color white{255, 255, 255};
    const auto stride = static_cast<png_int_32>(picture.form.width * picture.form.channels);
    const bool finished = png_image_finish_read(&image, &white, picture.values.data(), stride, nullptr) != 0;
    std::string fault = finished ? "" : image.message;
    png_image_free(&image);
    if (!finished) {
        const bool early = fault.find("read beyond") != std::string::npos;
        return Error{"", early ? "is truncated" : "cannot be decoded: " + fault};
    }
    return picture;
}

std::string encodedPng(const Picture& picture)
{
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(picture.form.width);
    image.height = static_cast<png_uint_32>(picture.form.height);
    image.format = picture.form.channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
    png_alloc_size_t size = 0;
    std::string file;
    for (const bool writes : {false, true}) { // the first call only measures
        file.resize(size);
        if (png_image_write_to_memory(&image, writes ? file.data() : nullptr, &size, 0, picture.values.data(), 0,
                                      nullptr) == 0) {
            throw std::runtime_error(std::string("a PNG file cannot be made: ") + image.message);
        }
    }
    return file;
}

} // namespace residua::engine
