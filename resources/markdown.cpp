// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/markdown.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace residua::resources {
namespace {

using Style = MarkdownSpan::Style;

constexpr std::size_t kLongestMark = 2000; ///< bytes in which a mark is closed, so that the time is linear
constexpr std::string_view kCodeIndent = "    ";
constexpr std::string_view kFence = "```";

std::string_view withoutBlanks(std::string_view text)
{
    const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
    return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

std::vector<std::string> cellsOf(std::string_view row)
{
    std::vector<std::string> cells;
    row.remove_prefix(1);
    for (std::size_t end = row.find('|'); end != std::string_view::npos; end = row.find('|')) {
        cells.emplace_back(withoutBlanks(row.substr(0, end)));
        row.remove_prefix(end + 1);
    }
    return cells;
}

/// Returns the marker that begins an item of a list, without the space behind it; empty for another line.
std::string_view markerOf(std::string_view line)
{
    if (line.starts_with("- ") || line.starts_with("* ")) {
        return line.substr(0, 1);
    }
    const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
    const bool isNumbered = digits > 0 && digits < 4 && line.substr(digits).starts_with(". ");
    return isNumbered ? line.substr(0, digits + 1) : std::string_view();
}

/// Returns the level of a heading; 0 for another line.
int headingLevel(std::string_view line)
{
    constexpr std::size_t kDeepest = 6;
    const std::size_t marks = std::min(line.find_first_not_of('#'), line.size());
    return marks > 0 && marks <= kDeepest && line.substr(marks).starts_with(' ') ? static_cast<int>(marks) : 0;
}

/// Collects the blocks of a page line by line.
class Splitter {
public:
    void add(std::string_view line)
    {
        if (m_fenced || line.starts_with(kFence)) {
            addFenced(line);
        } else if (line.starts_with(kCodeIndent) && !isItem()) {
            push({.kind = MarkdownKind::Code, .text = std::string(line.substr(kCodeIndent.size()))});
        } else if (withoutBlanks(line).empty()) {
            push({.kind = MarkdownKind::Blank});
        } else if (const int level = headingLevel(line); level > 0) {
            push({.kind = MarkdownKind::Heading,
                  .text = std::string(withoutBlanks(line.substr(static_cast<std::size_t>(level)))),
                  .level = level});
        } else if (line.starts_with('|')) {
            if (line.find_first_not_of("|-: ") != std::string_view::npos) { // not the line below the heading
                push({.kind = MarkdownKind::Row, .cells = cellsOf(line)});
            }
        } else {
            addText(line);
        }
    }

    [[nodiscard]] std::vector<MarkdownBlock> take() { return std::move(m_blocks); }

private:
    [[nodiscard]] bool isItem() const { return !m_blocks.empty() && m_blocks.back().kind == MarkdownKind::Item; }
    [[nodiscard]] bool isText() const
    {
        return isItem() || (!m_blocks.empty() && m_blocks.back().kind == MarkdownKind::Paragraph);
    }

    void addFenced(std::string_view line)
    {
        if (line.starts_with(kFence)) {
            m_fenced = !m_fenced;
        } else {
            push({.kind = MarkdownKind::Code, .text = std::string(line)});
        }
    }

    void addText(std::string_view line)
    {
        if (const std::string_view marker = markerOf(withoutBlanks(line)); !marker.empty()) {
            push({.kind = MarkdownKind::Item,
                  .text = std::string(withoutBlanks(withoutBlanks(line).substr(marker.size()))),
                  .marker = marker == "*" ? "-" : std::string(marker)});
        } else if (isText()) {
            m_blocks.back().text += " " + std::string(withoutBlanks(line));
        } else {
            push({.kind = MarkdownKind::Paragraph, .text = std::string(withoutBlanks(line))});
        }
    }

    void push(MarkdownBlock block) { m_blocks.push_back(std::move(block)); }

    std::vector<MarkdownBlock> m_blocks;
    bool m_fenced = false;
};

/// A mark at some place of a text: the span, and the number of bytes that it takes.
struct Mark {
    MarkdownSpan span;
    std::size_t length = 0;
};

std::optional<Mark> linkAt(std::string_view text)
{
    const bool isPicture = text.starts_with('!');
    const std::size_t bracket = isPicture ? 1 : 0;
    const std::size_t middle = text.find(']', bracket + 1);
    if (bracket >= text.size() || text[bracket] != '[' || middle == std::string_view::npos ||
        !text.substr(middle).starts_with("](")) {
        return std::nullopt;
    }
    std::size_t end = middle + 2;
    for (int open = 0; end < text.size() && (text[end] != ')' || open > 0); ++end) {
        open += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
    }
    Mark mark{{std::string(text.substr(bracket + 1, middle - bracket - 1))}, std::min(end + 1, text.size())};
    mark.span.link = isPicture ? std::string_view() : text.substr(middle + 2, end - middle - 2);
    return mark;
}

/// Returns the text between two equal marks, which begins and ends with no space.
std::optional<Mark> emphasisAt(std::string_view text, std::string_view sign, Style style)
{
    if (!text.starts_with(sign) || text.substr(sign.size()).starts_with(' ')) {
        return std::nullopt;
    }
    const std::size_t end = text.find(sign, sign.size());
    if (end == std::string_view::npos || end == sign.size() || text[end - 1] == ' ') {
        return std::nullopt;
    }
    return Mark{{std::string(text.substr(sign.size(), end - sign.size())), style}, end + sign.size()};
}

std::optional<Mark> markAt(std::string_view text, bool startsWord)
{
    if (text.starts_with('`')) {
        const std::size_t end = std::min(text.find('`', 1), text.size());
        return Mark{{std::string(text.substr(1, end - 1)), Style::Code}, std::min(end + 1, text.size())};
    }
    text = text.substr(0, kLongestMark);
    if (text.starts_with('[') || text.starts_with("![")) {
        return linkAt(text);
    }
    if (!startsWord || !text.starts_with('*')) {
        return std::nullopt;
    }
    auto strong = emphasisAt(text, "**", Style::Strong);
    return strong ? strong : text.starts_with("**") ? std::nullopt : emphasisAt(text, "*", Style::Emphasis);
}

} // namespace

std::vector<MarkdownBlock> markdownBlocks(std::string_view page)
{
    Splitter splitter;
    while (!page.empty()) {
        const std::size_t end = std::min(page.find('\n'), page.size());
        std::string_view line = page.substr(0, end);
        line.remove_suffix(line.ends_with('\r') ? 1 : 0);
        splitter.add(line);
        page.remove_prefix(std::min(end + 1, page.size()));
    }
    return splitter.take();
}

std::vector<MarkdownSpan> markdownSpans(std::string_view text)
{
    std::vector<MarkdownSpan> spans;
    bool isPlain = false; ///< true if further text joins the last span
    for (std::size_t i = 0; i < text.size();) {
        const bool startsWord = i == 0 || text[i - 1] == ' ' || text[i - 1] == '(';
        if (std::optional<Mark> mark = markAt(text.substr(i), startsWord)) {
            spans.push_back(std::move(mark->span));
            i += mark->length;
            isPlain = false;
            continue;
        }
        if (!isPlain) {
            spans.push_back({});
            isPlain = true;
        }
        spans.back().text += text[i++];
    }
    return spans;
}

std::string markdownWords(std::string_view text)
{
    std::string words;
    for (const MarkdownSpan& span : markdownSpans(text)) {
        words += span.text;
    }
    return words;
}

} // namespace residua::resources
