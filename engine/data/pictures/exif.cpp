// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/pictures/picture.h"

#include <cstring>
#include <string_view>
#include <utility>

namespace residua::engine {
namespace {

using ByteSpan = std::span<const std::byte>;

/// Reads the numbers of a TIFF block. Numbers beyond its end are 0.
class Tiff {
public:
    explicit Tiff(ByteSpan bytes) : m_bytes(bytes), m_little(beginsWith("II")), m_known(m_little || beginsWith("MM")) {}

    [[nodiscard]] bool known() const { return m_known && number(2, 2) == 42; }
    [[nodiscard]] std::uint32_t number(std::size_t at, std::size_t size) const
    {
        std::uint32_t value = 0;
        if (at > m_bytes.size() || m_bytes.size() - at < size) {
            return 0;
        }
        for (std::size_t i = 0; i < size; ++i) {
            value = value << 8U | std::to_integer<std::uint32_t>(m_bytes[at + (m_little ? size - 1 - i : i)]);
        }
        return value;
    }

private:
    [[nodiscard]] bool beginsWith(std::string_view text) const
    {
        return m_bytes.size() >= text.size() && std::memcmp(m_bytes.data(), text.data(), text.size()) == 0;
    }

    ByteSpan m_bytes;
    bool m_little;
    bool m_known;
};

} // namespace

int orientationIn(ByteSpan exif)
{
    constexpr std::string_view kPrefix("Exif\0\0", 6);
    if (exif.size() >= kPrefix.size() && std::memcmp(exif.data(), kPrefix.data(), kPrefix.size()) == 0) {
        exif = exif.subspan(kPrefix.size());
    }
    constexpr std::uint32_t kOrientation = 0x0112;
    constexpr std::uint32_t kShort = 3;
    constexpr std::uint32_t kLong = 4;
    constexpr std::size_t kEntry = 12;
    const Tiff tiff(exif);
    std::uint32_t found = 1;
    const std::size_t directory = tiff.known() ? tiff.number(4, 4) : exif.size();
    const std::size_t entries = tiff.number(directory, 2);
    for (std::size_t i = 0; i < entries; ++i) {
        const std::size_t at = directory + 2 + kEntry * i;
        const std::uint32_t type = tiff.number(at + 2, 2);
        if (tiff.number(at, 2) == kOrientation && (type == kShort || type == kLong)) {
            found = tiff.number(at + 8, type == kShort ? 2 : 4);
        }
    }
    return found >= 1 && found <= 8 ? static_cast<int>(found) : 1;
}

Picture upright(Picture picture, int orientation)
{
    if (orientation <= 1 || orientation > 8) {
        return picture;
    }
    const auto [height, width, channels] = picture.form;
    const bool transposes = orientation >= 5;
    const bool flipsRows = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    const bool flipsColumns = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    Picture result{{transposes ? width : height, transposes ? height : width, channels}, {}, picture.wasTransparent};
    result.values.reserve(picture.values.size());
    for (std::int64_t y = 0; y < result.form.height; ++y) {
        for (std::int64_t x = 0; x < result.form.width; ++x) {
            const auto [a, b] = transposes ? std::pair(x, y) : std::pair(y, x);
            const std::int64_t row = flipsRows ? height - 1 - a : a;
            const std::int64_t column = flipsColumns ? width - 1 - b : b;
            const auto from = picture.values.begin() + (row * width + column) * channels;
            result.values.insert(result.values.end(), from, from + channels);
        }
    }
    return result;
}

} // namespace residua::engine
