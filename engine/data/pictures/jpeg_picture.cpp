// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/pictures/picture.h"

#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include <jpeglib.h> // needs <cstdio> before it

#include <jerror.h>

namespace residua::engine {
namespace {

/// The decoder's error handler. libjpeg must not return from a fatal error, so it jumps.
struct Handler {
    jpeg_error_mgr manager;
    std::jmp_buf back;
    std::array<char, JMSG_LENGTH_MAX> message;
    bool early; ///< the file ends too early

    static void leave(j_common_ptr decoder)
    {
        auto* const handler = reinterpret_cast<Handler*>(decoder->err); // `manager` is the first member
        handler->manager.format_message(decoder, handler->message.data());
        std::longjmp(handler->back, 1);
    }
    static void warn(j_common_ptr decoder, int level)
    {
        auto* const handler = reinterpret_cast<Handler*>(decoder->err);
        if (level < 0) {
            handler->early = handler->early || decoder->err->msg_code == JWRN_JPEG_EOF;
            handler->manager.format_message(decoder, handler->message.data());
            ++decoder->err->num_warnings;
        }
    }
};

/// A decoder with everything that a jump must not skip the destruction of.
struct JpegDecoding {
    jpeg_decompress_struct decoder;
    Handler handler;
    Picture picture;
    std::string refusal; ///< the reason why the file is not read; empty if there is none
    int orientation = 1; ///< of EXIF
};

constexpr int kExifMarker = JPEG_APP0 + 1;

void readOrientation(JpegDecoding& decoding)
{
    constexpr std::string_view kExif("Exif\0\0", 6);
    for (const jpeg_marker_struct* marker = decoding.decoder.marker_list; marker != nullptr; marker = marker->next) {
        const auto bytes = std::as_bytes(std::span(marker->data, marker->data_length));
        if (marker->marker == kExifMarker && bytes.size() > kExif.size() &&
            std::memcmp(bytes.data(), kExif.data(), kExif.size()) == 0) {
            decoding.orientation = orientationIn(bytes);
            return;
        }
    }
}

void checkHeader(JpegDecoding& decoding)
{
    const jpeg_decompress_struct& header = decoding.decoder;
    const std::uint64_t pixels = std::uint64_t{header.image_width} * header.image_height;
    if (header.num_components != 1 && header.num_components != 3) {
        decoding.refusal = header.num_components == 4 ? "is CMYK, expected grey or RGB"
                                                      : "has " + std::to_string(header.num_components) + " components";
    } else if (pixels == 0) {
        decoding.refusal = "has no pixels";
    } else if (pixels > std::uint64_t{kMostPixels}) {
        decoding.refusal = "has " + std::to_string(header.image_width) + " × " + std::to_string(header.image_height) +
                           " pixels, expected at most " + std::to_string(kMostPixels);
    }
}

/// Returns false on a fatal error. Has no local objects with destructors, because it is left by a jump.
bool run(JpegDecoding& decoding, std::span<const std::byte> bytes)
{
    jpeg_decompress_struct& decoder = decoding.decoder;
    if (setjmp(decoding.handler.back) != 0) {
        return false;
    }
    jpeg_create_decompress(&decoder);
    jpeg_mem_src(&decoder, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg_save_markers(&decoder, kExifMarker, 0xFFFF);
    jpeg_read_header(&decoder, TRUE);
    checkHeader(decoding);
    readOrientation(decoding);
    if (!decoding.refusal.empty()) {
        return true;
    }
    decoder.out_color_space = decoder.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    decoder.dct_method = JDCT_ISLOW;
    jpeg_start_decompress(&decoder);
    decoding.picture.form = {decoder.output_height, decoder.output_width, decoder.output_components};
    decoding.picture.values.resize(static_cast<std::size_t>(decoding.picture.form.values()));
    while (decoder.output_scanline < decoder.output_height) {
        const std::size_t row = decoder.output_scanline;
        JSAMPROW to = decoding.picture.values.data() + row * static_cast<std::size_t>(decoder.output_width) *
                                                           static_cast<std::size_t>(decoder.output_components);
        jpeg_read_scanlines(&decoder, &to, 1);
    }
    jpeg_finish_decompress(&decoder);
    return true;
}

} // namespace

Result<Picture> decodeJpeg(std::span<const std::byte> bytes, ReadingVersion reading)
{
    JpegDecoding decoding{};
    decoding.decoder.err = jpeg_std_error(&decoding.handler.manager);
    decoding.handler.manager.error_exit = &Handler::leave;
    decoding.handler.manager.emit_message = &Handler::warn;
    const bool done = run(decoding, bytes);
    const long warnings = decoding.handler.manager.num_warnings;
    jpeg_destroy_decompress(&decoding.decoder);
    if (!decoding.refusal.empty()) {
        return Error{"", decoding.refusal};
    }
    if (decoding.handler.early) {
        return Error{"", "is truncated"};
    }
    if (!done || warnings > 0) {
        return Error{"", std::string("cannot be decoded: ") + decoding.handler.message.data()};
    }
    return upright(std::move(decoding.picture), reading == ReadingVersion::First ? 1 : decoding.orientation);
}

} // namespace residua::engine
