// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/printable.h"
#include "projects/base/utf8.h"

#include <cstddef>
#include <string>
#include <string_view>

#include <unistd.h>

namespace residua::engine {

/// Copies text of another program, which may be on another machine, to the standard error. Makes visible what a
/// terminal would act on.
class ShownErrors {
public:
    ShownErrors() = default;
    ShownErrors(const ShownErrors&) = delete;
    ShownErrors& operator=(const ShownErrors&) = delete;
    ~ShownErrors() { show(m_waiting.size()); }

    void add(std::string_view bytes)
    {
        m_waiting += bytes;
        std::size_t whole = wholeCodePoints(m_waiting);
        whole -= whole > 0 && m_waiting[whole - 1] == '\r' ? 1 : 0; // a line end of ssh is "\r\n"
        show(whole);
    }

private:
    void show(std::size_t bytes)
    {
        std::string text = m_waiting.substr(0, bytes);
        m_waiting.erase(0, bytes);
        for (std::size_t at = 0; (at = text.find("\r\n", at)) != std::string::npos;) {
            text.erase(at, 1);
        }
        text = printable(text, LineEnds::Keep);
        [[maybe_unused]] const ssize_t passed = write(STDERR_FILENO, text.data(), text.size());
    }

    std::string m_waiting; ///< an incomplete character, or half of a line end
};

} // namespace residua::engine
