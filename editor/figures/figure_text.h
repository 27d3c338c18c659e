// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/figures/figure.h"

#include <string>
#include <utility>

// The writers of figures as text. Private to the module.
namespace residua::editor {

/// Collects the text of a figure's parts. Consecutive parts of equal style share a group.
class GroupedText {
public:
    /// A group begins with `open`, its style and `opened`. It ends with `close`.
    GroupedText(const char* open, const char* opened, const char* close)
        : m_open(open), m_opened(opened), m_close(close)
    {
    }
    [[nodiscard]] std::string finished()
    {
        style({});
        return std::move(m_out);
    }

protected:
    /// Sets the style of the following text. An empty style ends the open group.
    void style(const std::string& next)
    {
        if (next != m_style) {
            m_out += m_style.empty() ? "" : m_close;
            m_out += next.empty() ? "" : m_open + next + m_opened;
            m_style = next;
        }
    }

    std::string m_out;

private:
    const char* m_open;
    const char* m_opened;
    const char* m_close;
    std::string m_style; ///< style of the open group; empty if no group is open
};

/// Formats a number with at most three decimals.
[[nodiscard]] std::string figureNumber(double number);
[[nodiscard]] std::string svgOf(const Figure& figure);
[[nodiscard]] std::string tikzOf(const Figure& figure);
/// Returns a document of the size of the figure.
[[nodiscard]] std::string texOf(const Figure& figure);

} // namespace residua::editor
