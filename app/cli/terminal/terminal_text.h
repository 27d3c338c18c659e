// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace residua::cli {

/// Whether line ends stay: they belong to a text, but not to a name within a line.
enum class LineEnds { Keep, Escape };

/// `text` as a terminal may have it: whatever would act on the terminal (control characters, escape sequences, marks
/// that turn the direction of writing) is spelt out as \x1b or \u202e, and what is no UTF-8 becomes U+FFFD. Tabs stay.
[[nodiscard]] std::string printable(std::string_view text, LineEnds lineEnds);

/// Columns that a line takes on a terminal: East Asian wide characters and emoji take two, combining marks none.
[[nodiscard]] std::size_t columnsOf(std::string_view line);

/// The beginning of the line that fits into so many columns, ending in "…" where something was left out.
[[nodiscard]] std::string clipped(std::string_view line, std::size_t columns);

/// The text broken between words into lines of at most `columns` (a longer word stays whole); all but the first begin
/// with `indent` spaces, and the first is taken to begin there already. Line ends in it stay.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent);

/// Between single quotes of a POSIX shell.
[[nodiscard]] std::string shellQuoted(std::string_view text);
/// A word of a command that a person may copy: quoted where a shell would read it otherwise.
[[nodiscard]] std::string shellWord(std::string_view text);

} // namespace residua::cli
