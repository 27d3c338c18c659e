// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/pictures/picture.h"

#include <csetjmp>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

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

/// Returns the content of the first chunk of that name; nullopt if the file has no such chunk. With `beforePixels`,
/// chunks after the pixels do not count.
std::optional<std::span<const std::byte>> chunkOf(std::span<const std::byte> bytes, const char* name, bool beforePixels)
{
    bytes = bytes.subspan(kSignature);
    while (bytes.size() >= 12) {
        const auto is = [&](const char* wanted) { return std::memcmp(bytes.data() + 4, wanted, 4) == 0; };
        const std::size_t size = bigEndian(bytes);
        if (size + 12 > bytes.size() || (beforePixels && is("IDAT"))) {
            return std::nullopt;
        }
        if (is(name)) {
            return bytes.subspan(8, size);
        }
        bytes = bytes.subspan(size + 12);
    }
    return std::nullopt;
}

Status checkHeader(std::span<const std::byte> bytes, ReadingVersion reading)
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
    if (bytes[24] == std::byte{16} && reading == ReadingVersion::First) {
        return Error{"", "has 16 bits per value, expected 8"};
    }
    const bool isAnimated = chunkOf(bytes, "acTL", true).has_value();
    return isAnimated ? Status(Error{"", "is animated, expected a single picture"}) : Status(Done{});
}

/// A decoder with everything that a jump must not skip the destruction of.
struct PngDecoding {
    std::span<const std::byte> left; ///< bytes that are not read yet
    png_structp decoder = nullptr;
    png_infop info = nullptr;
    std::string fault;       ///< the reason why the file cannot be read; empty if it can
    bool hasOpacity = false; ///< as the last channel
    PictureForm form;
    std::vector<std::uint8_t> values;
    std::vector<png_bytep> rows;
};

PngDecoding& decodingOf(png_structp decoder)
{
    return *static_cast<PngDecoding*>(png_get_error_ptr(decoder));
}

/// libpng must not return from an error, so it jumps.
[[noreturn]] void fail(png_structp decoder, png_const_charp message)
{
    decodingOf(decoder).fault = std::string("cannot be decoded: ") + message;
    png_longjmp(decoder, 1);
}

void ignore(png_structp, png_const_charp) {}

void readBytes(png_structp decoder, png_bytep to, std::size_t count)
{
    PngDecoding& decoding = decodingOf(decoder);
    if (count > decoding.left.size()) {
        decoding.fault = "is truncated";
        png_longjmp(decoder, 1);
    }
    std::memcpy(to, decoding.left.data(), count);
    decoding.left = decoding.left.subspan(count);
}

/// Reads the values as they are stored. Returns false on an error. Has no local objects with destructors, because it is
/// left by a jump.
bool run(PngDecoding& decoding)
{
    if (setjmp(png_jmpbuf(decoding.decoder)) != 0) {
        return false;
    }
    png_structp decoder = decoding.decoder;
    png_set_read_fn(decoder, nullptr, readBytes);
    png_read_info(decoder, decoding.info);
    png_set_expand(decoder);   // palettes, fewer than 8 bits, and the transparent colour
    png_set_strip_16(decoder); // to the upper 8 bits
    png_set_interlace_handling(decoder);
    png_read_update_info(decoder, decoding.info);
    const png_byte type = png_get_color_type(decoder, decoding.info);
    decoding.hasOpacity = (type & PNG_COLOR_MASK_ALPHA) != 0;
    decoding.form = {png_get_image_height(decoder, decoding.info), png_get_image_width(decoder, decoding.info),
                     (type & PNG_COLOR_MASK_COLOR) != 0 ? 3 : 1};
    const std::size_t stride = png_get_rowbytes(decoder, decoding.info);
    decoding.values.resize(stride * static_cast<std::size_t>(decoding.form.height));
    for (std::int64_t row = 0; row < decoding.form.height; ++row) {
        decoding.rows.push_back(decoding.values.data() + static_cast<std::size_t>(row) * stride);
    }
    png_read_image(decoder, decoding.rows.data());
    png_read_end(decoder, nullptr);
    return true;
}

/// Reads a picture of 8 bits per value as earlier versions did: with gamma applied, on white.
Result<Picture> decodeEarlier(std::span<const std::byte> bytes)
{
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
    const std::string fault = finished ? "" : image.message;
    png_image_free(&image);
    return finished ? Result<Picture>(std::move(picture)) : Error{"", "cannot be decoded: " + fault};
}

} // namespace

Result<Picture> decodePng(std::span<const std::byte> bytes, ReadingVersion reading)
{
    RESIDUA_TRY(checkHeader(bytes, reading));
    if (reading == ReadingVersion::First) {
        return decodeEarlier(bytes);
    }
    PngDecoding decoding;
    decoding.left = bytes;
    decoding.decoder = png_create_read_struct(PNG_LIBPNG_VER_STRING, &decoding, fail, ignore);
    decoding.info = decoding.decoder != nullptr ? png_create_info_struct(decoding.decoder) : nullptr;
    const bool finished = decoding.info != nullptr && run(decoding);
    png_destroy_read_struct(&decoding.decoder, &decoding.info, nullptr);
    if (!finished) {
        return Error{"", decoding.fault.empty() ? "cannot be decoded: there is too little memory" : decoding.fault};
    }
    Picture picture = decoding.hasOpacity ? laidOn(0, decoding.form, decoding.values)
                                          : Picture{decoding.form, std::move(decoding.values)};
    const auto exif = chunkOf(bytes, "eXIf", false);
    return upright(std::move(picture), exif ? orientationIn(*exif) : 1);
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
