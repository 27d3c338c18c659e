// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace residua::projects {

/// Both lists, one behind the other.
template <std::size_t N, std::size_t M>
[[nodiscard]] consteval std::array<std::string_view, N + M> bothOf(const std::array<std::string_view, N>& first,
                                                                   const std::array<std::string_view, M>& second)
{
    std::array<std::string_view, N + M> all;
    std::ranges::copy(second, std::ranges::copy(first, all.begin()).out);
    return all;
}

/// What the names of plain texts end in, where a folder of them is given; and of those of records.
inline constexpr std::array<std::string_view, 3> kTextEndings{".txt", ".txt.gz", ".txt.zst"};
inline constexpr std::array<std::string_view, 7> kRecordEndings{".jsonl",     ".jsonl.gz",   ".jsonl.zst", ".ndjson",
                                                                ".ndjson.gz", ".ndjson.zst", ".parquet"};
/// What the names of files with ready-made tokens end in.
inline constexpr std::array<std::string_view, 1> kTokenEndings{".bin"};

inline constexpr auto kAnyTextEndings = bothOf(kTextEndings, kRecordEndings);
inline constexpr auto kDataEndings = bothOf(kAnyTextEndings, kTokenEndings);

} // namespace residua::projects
