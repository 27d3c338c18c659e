// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/base/text_encoding.h"

#include <algorithm>
#include <array>

namespace residua::projects {

namespace {

/// What a text in another encoding begins with: its mark, or the zeros beside a first character of ASCII.
struct Beginning {
    std::string_view bytes;
    const char* encoding;
};
constexpr std::array kOthers{
    Beginning{{"\xFF\xFE\0\0", 4}, "UTF-32"}, Beginning{{"\0\0\xFE\xFF", 4}, "UTF-32"},
    Beginning{{"{\0\0\0", 4}, "UTF-32"},      Beginning{{"\0\0\0{", 4}, "UTF-32"},
    Beginning{{"\xFF\xFE", 2}, "UTF-16"},     Beginning{{"\xFE\xFF", 2}, "UTF-16"},
    Beginning{{"{\0", 2}, "UTF-16"},          Beginning{{"\0{", 2}, "UTF-16"},
};
constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";

} // namespace

Result<std::string_view> utf8Text(std::string_view bytes)
{
    const auto other =
        std::ranges::find_if(kOthers, [&](const Beginning& beginning) { return bytes.starts_with(beginning.bytes); });
    if (other != kOthers.end()) {
        return Error{"document", std::string("is encoded in ") + other->encoding +
                                     "; expected UTF-8: save it again in that encoding"};
    }
    return bytes.starts_with(kUtf8Mark) ? bytes.substr(kUtf8Mark.size()) : bytes;
}

std::size_t utf8Length(std::string_view text)
{
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
        return byte(i) >= low && byte(i) <= high;
    };
    const unsigned lead = byte(0);
    if (lead < 0x80) {
        return text.empty() ? 0 : 1;
    }
    if (lead >= 0xC2 && lead <= 0xDF) {
        return follows(1) ? 2 : 0;
    }
    if (lead >= 0xE0 && lead <= 0xEF) { // neither overlong forms nor surrogates
        return follows(1, lead == 0xE0 ? 0xA0 : 0x80, lead == 0xED ? 0x9F : 0xBF) && follows(2) ? 3 : 0;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        return follows(1, lead == 0xF0 ? 0x90 : 0x80, lead == 0xF4 ? 0x8F : 0xBF) && follows(2) && follows(3) ? 4 : 0;
    }
    return 0;
}

bool isUtf8(std::string_view text)
{
    while (!text.empty()) {
        const std::size_t length = utf8Length(text);
        if (length == 0) {
            return false;
        }
        text.remove_prefix(length);
    }
    return true;
}

std::string asUtf8(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = utf8Length(text);
        out += length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length);
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return out;
}

} // namespace residua::projects
