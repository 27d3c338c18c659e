// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/pictures/picture.h"

#include "projects/base/files.h"
#include "projects/model/data_source.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {
namespace {

using namespace std::string_view_literals;

/// A picture format, recognised by its first bytes.
struct Format {
    std::string_view name;
    std::string_view first;
    std::array<std::string_view, 2> endings;
    /// Null if it is not read.
    Result<Picture> (*decode)(std::span<const std::byte> bytes, ReadingVersion reading) = nullptr;
    std::size_t at = 0; ///< where `first` is found
};

constexpr std::array kFormats{
    Format{"PNG", "\x89PNG\r\n\x1a\n"sv, {".png", ".png"}, decodePng},
    Format{"JPEG", "\xff\xd8\xff"sv, {".jpg", ".jpeg"}, decodeJpeg},
    Format{"WebP", "WEBP"sv, {".webp", ".webp"}, decodeWebp, 8},
    Format{"GIF", "GIF8"sv, {}},
    Format{"BMP", "BM"sv, {}},
    Format{"TIFF", "II*\0"sv, {}},
    Format{"TIFF", "MM\0*"sv, {}},
    Format{"BigTIFF", "II+\0"sv, {}},
    Format{"AVIF", "ftypavi"sv, {}, nullptr, 4},
    Format{"HEIC", "ftyphei"sv, {}, nullptr, 4},
    Format{"HEIC", "ftyphev"sv, {}, nullptr, 4},
    Format{"HEIC", "ftypmif1"sv, {}, nullptr, 4},
    Format{"HEIC", "ftypmsf1"sv, {}, nullptr, 4},
    Format{"JPEG XL", "\xff\x0a"sv, {}},
    Format{"JPEG XL", "JXL \r\n"sv, {}, nullptr, 4},
    Format{"JPEG 2000", "jP  \r\n"sv, {}, nullptr, 4},
    Format{"SVG", "<svg"sv, {}},
    Format{"PNM", "P5"sv, {}},
    Format{"PNM", "P6"sv, {}},
    Format{"Photoshop", "8BPS"sv, {}},
};

bool begins(std::string_view content, const Format& format)
{
    return content.size() >= format.at && content.substr(format.at).starts_with(format.first);
}

Result<Picture> decoded(const std::filesystem::path& path, std::span<const std::byte> bytes, ReadingVersion reading)
{
    if (bytes.empty()) {
        return Error{"", "is empty"};
    }
    const std::string_view head(reinterpret_cast<const char*>(bytes.data()), std::min<std::size_t>(16, bytes.size()));
    const auto* const format = std::ranges::find_if(kFormats, [&](const Format& one) { return begins(head, one); });
    if (format == kFormats.end() || format->decode == nullptr) {
        return Error{"", (format == kFormats.end() ? "is not a picture" : "is " + std::string(format->name)) +
                             ", expected PNG, JPEG or WebP"};
    }
    if (!projects::endsIn(path.native(), format->endings)) {
        return Error{"", "is " + std::string(format->name) + ", but its name does not end in " +
                             std::string(format->endings[0])};
    }
    return format->decode(bytes, reading);
}

} // namespace

Result<Picture> readPicture(const std::filesystem::path& path, ReadingVersion reading)
{
    const InputFile file = RESIDUA_TRY(InputFile::open(path));
    constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;
    if (file.size() > kMostBytes) {
        return Error{path.string(), "has more than 1 GiB, which no picture of training data has"};
    }
    std::vector<std::byte> bytes(file.size());
    RESIDUA_TRY(file.read(0, bytes));
    Result<Picture> picture = decoded(path, bytes, reading);
    return picture ? std::move(picture) : Result<Picture>(Error{path.string(), picture.error().message});
}

} // namespace residua::engine
