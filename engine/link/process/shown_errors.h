// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/text.h"
#include "projects/base/utf8.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace residua::engine {

/// Makes text that another program writes to its standard error, perhaps on another machine, safe for a terminal. The
/// text comes in pieces.
class ShownErrors {
public:
    /// Returns what of the text so far can be shown. A character or a line end that is cut off waits for its rest.
    [[nodiscard]] std::string add(std::string_view bytes)
    {
        m_waiting += bytes;
        std::size_t whole = wholeCodePoints(m_waiting);
        whole -= whole > 0 && m_waiting[whole - 1] == '\r' ? 1 : 0; // a line end of ssh is "\r\n"
        return take(whole);
    }
    /// Returns the rest.
    [[nodiscard]] std::string end() { return take(m_waiting.size()); }

private:
    std::string take(std::size_t bytes)
    {
        std::string text = m_waiting.substr(0, bytes);
        m_waiting.erase(0, bytes);
        for (std::size_t at = 0; (at = text.find("\r\n", at)) != std::string::npos;) {
            text.erase(at, 1);
        }
        return printable(text, LineEnds::Keep);
    }

    std::string m_waiting;
};

} // namespace residua::engine
