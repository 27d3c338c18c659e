// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Apart from console.h, because parsing and help need text alone, without a console.

#include "projects/base/text.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace residua::cli {

/// Returns the columns of a line on a terminal: two for East Asian wide characters and emoji, none for combining marks.
[[nodiscard]] std::size_t columnsOf(std::string_view line);

/// Returns the beginning of the line that fits into `columns`, ending in "…" if it is cut.
[[nodiscard]] std::string clipped(std::string_view line, std::size_t columns);

/// Wraps the text between words into lines of at most `columns` (longer words are kept whole). All lines except the
/// first begin with `indent` spaces; the first is assumed to begin there already. Keeps line ends.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent);

/// An environment variable that the program reads, and the effect of its values.
struct EnvironmentVariable {
    const char* name = "";
    std::string meaning;
};

/// Returns all variables RESIDUA_… of the program and the window, which `residua-cli --help` and its manual page list.
[[nodiscard]] std::span<const EnvironmentVariable> environmentVariables();

/// Formats a help page's Markdown for a terminal of `width` columns: plain headings, text wrapped and indented by two,
/// unchanged code, tables in columns whose last one wraps, and the words of links and emphasis.
[[nodiscard]] std::string terminalText(std::string_view markdown, std::size_t width);

} // namespace residua::cli
