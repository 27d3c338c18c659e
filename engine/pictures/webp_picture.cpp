// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/pictures/picture.h"

#include <string>

#include <webp/decode.h>

namespace residua::engine {
namespace {

Error faultOf(VP8StatusCode status)
{
    return {"", status == VP8_STATUS_NOT_ENOUGH_DATA ? "is truncated" : "cannot be decoded: the data are damaged"};
}

/// Lays pixels [values, 4] with opacity on white, as [values, 3].
void layOnWhite(std::span<const std::uint8_t> from, std::vector<std::uint8_t>& values)
{
    for (std::size_t i = 0; i + 3 < from.size(); i += 4) {
        const int opacity = from[i + 3];
        for (std::size_t c = 0; c < 3; ++c) {
            values.push_back(static_cast<std::uint8_t>((from[i + c] * opacity + 255 * (255 - opacity) + 127) / 255));
        }
    }
}

} // namespace

Result<Picture> decodeWebp(std::span<const std::byte> bytes)
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
    if (opaque) {
        picture.values = std::move(decoded);
    } else {
        layOnWhite(decoded, picture.values);
    }
    return picture;
}

} // namespace residua::engine
