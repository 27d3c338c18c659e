// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

/// Texts of others, made safe for a terminal, a shell and a table.
namespace residua {

/// Whether line ends are kept. They are part of a text, but not of a name within a line.
enum class LineEnds { Keep, Escape };

/// Makes `text` safe for a terminal: escapes control characters, escape sequences and marks that change the writing
/// direction as \x1b or \u202e, and replaces invalid UTF-8 by U+FFFD. Keeps tabs.
[[nodiscard]] std::string printable(std::string_view text, LineEnds lineEnds);
/// True if printable() changes nothing in a name within a line.
[[nodiscard]] bool isPrintable(std::string_view name);

/// Returns a short text, such as a token, on one line and with its ends visible: a space there is "▁", another blank
/// is written as "\x0a" or "\u3000". Otherwise does the same as printable().
[[nodiscard]] std::string visible(std::string_view text);

/// Quotes a text with single quotes for a POSIX shell.
[[nodiscard]] std::string shellQuoted(std::string_view text);
/// Returns a word of a command that the user can copy, quoted if the shell would interpret it.
[[nodiscard]] std::string shellWord(std::string_view text);

/// Returns the text as a field of CSV, in quotes if it has a comma, a quote or a line end.
[[nodiscard]] std::string csvField(std::string_view text);

} // namespace residua
