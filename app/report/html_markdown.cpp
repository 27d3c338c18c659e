// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/html_text.h"
#include "resources/markdown.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace residua::report {
namespace {

using resources::MarkdownBlock;
using resources::MarkdownKind;
using resources::MarkdownSpan;

/// True if a browser shows the target as a web page or a mail: another scheme could run a script.
bool isPublic(std::string_view target)
{
    static constexpr std::array<std::string_view, 3> kSchemes{"https://", "http://", "mailto:"};
    return std::ranges::any_of(kSchemes, [&](std::string_view scheme) {
        return std::ranges::equal(target.substr(0, scheme.size()), scheme,
                                  [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
    });
}

std::string htmlSpans(std::string_view text)
{
    std::string html;
    for (const MarkdownSpan& span : resources::markdownSpans(text)) {
        const char* const element = span.style == MarkdownSpan::Style::Emphasis ? "em"
                                    : span.style == MarkdownSpan::Style::Strong ? "strong"
                                    : span.style == MarkdownSpan::Style::Code   ? "code"
                                                                                : nullptr;
        const std::string words = escapeHtml(span.text);
        if (isPublic(span.link)) {
            html += "<a rel='noopener noreferrer' href='" + escapeHtml(span.link) + "'>" + words + "</a>";
        } else {
            html += element == nullptr ? words : std::string("<") + element + ">" + words + "</" + element + ">";
        }
    }
    return html;
}

/// Returns the element that holds the block together with its neighbours of the same kind; empty if none does.
std::string elementAround(const MarkdownBlock& block)
{
    switch (block.kind) {
    case MarkdownKind::Item:
        return block.marker == "-" ? "ul" : "ol";
    case MarkdownKind::Row:
        return "table";
    case MarkdownKind::Code:
        return "pre";
    default:
        return {};
    }
}

std::string htmlOf(const MarkdownBlock& block)
{
    constexpr int kBelowPage = 2; // a page has headings of its own
    constexpr int kLowest = 6;
    switch (block.kind) {
    case MarkdownKind::Heading: {
        const std::string element = "h" + std::to_string(std::min(block.level + kBelowPage, kLowest));
        return "<" + element + ">" + htmlSpans(block.text) + "</" + element + ">";
    }
    case MarkdownKind::Paragraph:
        return "<p>" + htmlSpans(block.text) + "</p>";
    case MarkdownKind::Item:
        return "<li>" + htmlSpans(block.text) + "</li>";
    case MarkdownKind::Code:
        return escapeHtml(block.text) + "\n";
    case MarkdownKind::Row: {
        std::string row = "<tr>";
        for (const std::string& cell : block.cells) {
            row += "<td>" + htmlSpans(cell) + "</td>";
        }
        return row + "</tr>";
    }
    case MarkdownKind::Blank:
        break;
    }
    return {};
}

} // namespace

std::string htmlMarkdown(std::string_view markdown)
{
    std::string html;
    std::string open; ///< the element that the next block may join
    for (const MarkdownBlock& block : resources::markdownBlocks(markdown)) {
        const std::string around = elementAround(block);
        if (around != open) {
            html += (open.empty() ? "" : "</" + open + ">") + (around.empty() ? "" : "<" + around + ">");
            open = around;
        }
        html += htmlOf(block);
    }
    return html + (open.empty() ? "" : "</" + open + ">");
}

} // namespace residua::report
