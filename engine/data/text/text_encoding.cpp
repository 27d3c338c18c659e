// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/text/data_files.h"

#include "projects/base/utf8.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace residua::engine {
Status checkUtf8(std::string_view text, const std::string& place, TextPosition begin)
{
    const auto flaw = firstInvalidUtf8(text);
    if (!flaw) {
        return Done{};
    }
    const auto newlines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(*flaw), '\n');
    const std::size_t line = begin.line + static_cast<std::size_t>(newlines);
    std::array<char, 8> byte{};
    std::snprintf(byte.data(), byte.size(), "0x%02x", static_cast<unsigned>(static_cast<unsigned char>(text[*flaw])));
    return Error{place + ":" + std::to_string(line), "byte " + std::string(byte.data()) + " at offset " +
                                                         std::to_string(begin.offset + *flaw) + " is not valid UTF-8"};
}

Status checkEncoding(std::string_view head, const std::string& place)
{
    const auto convert = [&](std::string_view encoding, const char* found) {
        return Error{place, found + std::string(encoding) + "; expected UTF-8: convert it with iconv -f " +
                                std::string(encoding) + " -t UTF-8 OLD > NEW"};
    };
    if (const auto marked = markedEncoding(head)) {
        return convert(*marked, "is ");
    }
    std::array<std::size_t, 2> zeros{}; // at even and odd offsets
    for (std::size_t i = 0; i < head.size(); ++i) {
        zeros[i % 2] += head[i] == '\0' ? 1 : 0;
    }
    if (4 * (zeros[0] + zeros[1]) < std::max<std::size_t>(head.size(), 8)) {
        return Done{};
    }
    if (zeros[0] == 0 || zeros[1] == 0) {
        return convert(zeros[0] == 0 ? "UTF-16LE" : "UTF-16BE", "looks like ");
    }
    return Error{place, std::to_string(zeros[0] + zeros[1]) + " of its first " + std::to_string(head.size()) +
                            " bytes are zero; expected UTF-8 text"};
}

} // namespace residua::engine
