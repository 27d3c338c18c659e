// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/pictures/picture.h"

#include <algorithm>
#include <cstring>

#include <webp/decode.h>

namespace residua::engine {
namespace {

Error faultOf(VP8StatusCode status)
{
    return {"", status == VP8_STATUS_NOT_ENOUGH_DATA ? "is truncated" : "cannot be decoded: the data are damaged"};
}

/// Returns the EXIF block of the file; empty if it has none.
std::span<const std::byte> exifOf(std::span<const std::byte> bytes)
{
    constexpr std::size_t kFileHeader = 12;
    constexpr std::size_t kChunkHeader = 8;
    bytes = bytes.subspan(std::min(kFileHeader, bytes.size()));
    while (bytes.size() >= kChunkHeader) {
        std::size_t size = 0;
        for (const std::size_t i : {7, 6, 5, 4}) {
            size = size << 8U | std::to_integer<std::size_t>(bytes[i]);
        }
        const auto content = bytes.subspan(kChunkHeader);
        size = std::min(size, content.size());
        if (std::memcmp(bytes.data(), "EXIF", 4) == 0) {
            return content.first(size);
        }
        bytes = content.subspan(std::min(size + size % 2, content.size()));
    }
    return {};
}

} // namespace

Result<Picture> decodeWebp(std::span<const std::byte> bytes, ReadingVersion reading)
{
    const auto* const data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    WebPBitstreamFeatures features{};
    if (const VP8StatusCode status = WebPGetFeatures(data, bytes.size(), &features); status != VP8_STATUS_OK) {
        return faultOf(status);
    }
    if (features.has_animation != 0) {
        return Error{"", "is animated, expected a single picture"};
    }
    WebPDecoderConfig config;
    if (WebPInitDecoderConfig(&config) == 0) {
        return Error{"", "cannot be decoded: libwebp has another version than its headers"};
    }
    const bool opaque = features.has_alpha == 0;
    Picture picture{{features.height, features.width, 3}, {}};
    std::vector<std::uint8_t> decoded(static_cast<std::size_t>(picture.form.height * picture.form.width) *
                                      (opaque ? 3 : 4));
    config.output.colorspace = opaque ? MODE_RGB : MODE_RGBA;
    config.output.is_external_memory = 1;
    config.output.u.RGBA = {decoded.data(), features.width * (opaque ? 3 : 4), decoded.size()};
    const VP8StatusCode status = WebPDecode(data, bytes.size(), &config);
    WebPFreeDecBuffer(&config.output);
    if (status != VP8_STATUS_OK) {
        return faultOf(status);
    }
    const bool earlier = reading == ReadingVersion::First;
    if (opaque) {
        picture.values = std::move(decoded);
    } else {
        picture = laidOn(earlier ? 255 : 0, picture.form, decoded);
    }
    return upright(std::move(picture), earlier ? 1 : orientationIn(exifOf(bytes)));
}

} // namespace residua::engine
