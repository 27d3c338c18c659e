// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace residua::projects {

/// Concatenates both lists.
template <std::size_t N, std::size_t M>
[[nodiscard]] consteval std::array<std::string_view, N + M> bothOf(const std::array<std::string_view, N>& first,
                                                                   const std::array<std::string_view, M>& second)
{
    std::array<std::string_view, N + M> all;
    std::ranges::copy(second, std::ranges::copy(first, all.begin()).out);
    return all;
}

/// File name endings of data files, by content. Each may be followed by one of kCompressedEndings.
inline constexpr std::array<std::string_view, 1> kTextEndings{".txt"};
inline constexpr std::array<std::string_view, 4> kRecordEndings{".jsonl", ".ndjson", ".json", ".parquet"};
inline constexpr std::array<std::string_view, 2> kSheetEndings{".csv", ".tsv"};
inline constexpr std::array<std::string_view, 2> kTokenEndings{".bin", ".npy"};
/// Pictures in the folders of their classes.
inline constexpr std::array<std::string_view, 4> kPictureEndings{".png", ".jpg", ".jpeg", ".webp"};
/// Pictures of formats that are not read.
inline constexpr std::array<std::string_view, 14> kOtherPictureEndings{
    ".gif", ".bmp", ".tif", ".tiff", ".heic", ".heif", ".avif", ".svg", ".jxl", ".jp2", ".ppm", ".pgm", ".ico", ".psd"};
/// Files of many pictures: CIFAR, MNIST's IDX, CSV.
inline constexpr std::array<std::string_view, 3> kPictureRecordEndings{".bin", "-ubyte", ".csv"};
inline constexpr std::array<std::string_view, 4> kCompressedEndings{".gz", ".zst", ".xz", ".bz2"};

inline constexpr auto kAnyTextEndings = bothOf(kTextEndings, kRecordEndings);
inline constexpr auto kTableEndings = bothOf(kSheetEndings, kRecordEndings);
inline constexpr auto kAnyPictureEndings = bothOf(kPictureEndings, kPictureRecordEndings);
inline constexpr auto kDataEndings = bothOf(bothOf(kAnyTextEndings, kTokenEndings), kSheetEndings);

/// Returns the ending of kCompressedEndings that the name has in either case, or an empty one.
[[nodiscard]] std::string_view compressedEnding(std::string_view name);
/// Returns the name without that ending.
[[nodiscard]] std::string_view withoutCompression(std::string_view name);
/// True if the name, without the ending of a compression, ends in one of `endings`, in either case.
[[nodiscard]] bool endsIn(std::string_view name, std::span<const std::string_view> endings);

} // namespace residua::projects
