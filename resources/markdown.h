// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace residua::resources {

/// The Markdown of help pages and notes: headings, paragraphs, items of lists, tables and code; in text emphasis,
/// strong emphasis, code and links. HTML is text. A picture is its words. Pure; any thread.

enum class MarkdownKind { Heading, Paragraph, Item, Row, Code, Blank };

/// A part of a page. `text` is unparsed (markdownSpans), except that of a line of code.
struct MarkdownBlock {
    MarkdownKind kind = MarkdownKind::Blank;
    std::string text = {};
    int level = 1;                       ///< of a heading, from 1
    std::string marker = {};             ///< of an item: "-", or its number "2."
    std::vector<std::string> cells = {}; ///< of a row of a table
};
/// Splits a page. Each line of code, row and empty line is a block of its own.
[[nodiscard]] std::vector<MarkdownBlock> markdownBlocks(std::string_view page);

/// A stretch of text in one style.
struct MarkdownSpan {
    enum class Style { Plain, Emphasis, Strong, Code };
    std::string text;
    Style style = Style::Plain;
    std::string link = {}; ///< the target of a link, as written and unchecked
};
/// Splits the text of a block. An unclosed mark is text, and an unclosed "`" makes code of the rest.
[[nodiscard]] std::vector<MarkdownSpan> markdownSpans(std::string_view text);
/// Returns the text without its marks.
[[nodiscard]] std::string markdownWords(std::string_view text);

} // namespace residua::resources
