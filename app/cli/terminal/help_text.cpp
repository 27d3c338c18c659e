// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/terminal/terminal_text.h"
#include "resources/markdown.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <vector>

namespace residua::cli {
namespace {

using resources::MarkdownBlock;
using resources::MarkdownKind;
using resources::markdownWords;

constexpr std::size_t kIndent = 2;
constexpr std::size_t kCodeIndent = 4;
constexpr std::size_t kNarrowest = 20; ///< minimum columns of text, whatever the terminal's width
constexpr std::size_t kGap = 2;        ///< between the columns of a table

/// Returns `text` in lines of at most `width` columns; longer words are on lines of their own.
std::vector<std::string> wrapped(const std::string& text, std::size_t width)
{
    std::vector<std::string> lines(1);
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        std::string& line = lines.back();
        if (line.empty()) {
            line = word;
        } else if (columnsOf(line) + 1 + columnsOf(word) <= width) {
            line += " " + word;
        } else {
            lines.push_back(word);
        }
    }
    return lines;
}

/// Converts a page to lines, block by block.
class Page {
public:
    explicit Page(std::size_t width) : m_width(std::max(width, kIndent + kNarrowest)) {}

    void add(const MarkdownBlock& block)
    {
        if (block.kind != MarkdownKind::Row) {
            addTable();
        }
        switch (block.kind) {
        case MarkdownKind::Code:
            m_text += std::string(kCodeIndent, ' ') + block.text + "\n";
            break;
        case MarkdownKind::Blank:
            m_text += "\n";
            break;
        case MarkdownKind::Heading:
            m_text += markdownWords(block.text) + "\n";
            break;
        case MarkdownKind::Row:
            m_rows.emplace_back();
            std::ranges::transform(block.cells, std::back_inserter(m_rows.back()), markdownWords);
            break;
        case MarkdownKind::Paragraph:
        case MarkdownKind::Item: {
            const std::string first =
                std::string(kIndent, ' ') + (block.marker.empty() ? std::string() : block.marker + " ");
            addLines(wrapped(markdownWords(block.text), m_width - first.size()), first);
        }
        }
    }

    [[nodiscard]] std::string take()
    {
        addTable();
        m_text.erase(m_text.find_last_not_of('\n') + 1);
        return std::move(m_text);
    }

private:
    /// Adds lines. The first begins with `first`, the others at the same column.
    void addLines(const std::vector<std::string>& lines, const std::string& first)
    {
        for (std::size_t i = 0; i < lines.size(); ++i) {
            m_text += (i == 0 ? first : std::string(columnsOf(first), ' ')) + lines[i] + "\n";
        }
    }

    void addTable()
    {
        std::vector<std::size_t> widths;
        for (const std::vector<std::string>& row : m_rows) {
            widths.resize(std::max(widths.size(), row.size()));
            for (std::size_t column = 0; column < row.size(); ++column) {
                widths[column] = std::max(widths[column], columnsOf(row[column]));
            }
        }
        for (const std::vector<std::string>& row : m_rows) {
            std::string first(kIndent, ' ');
            for (std::size_t column = 0; column + 1 < row.size(); ++column) {
                first += row[column] + std::string(widths[column] - columnsOf(row[column]) + kGap, ' ');
            }
            const std::size_t taken = std::min(columnsOf(first), m_width - kNarrowest);
            addLines(wrapped(row.empty() ? std::string() : row.back(), m_width - taken), first);
        }
        m_rows.clear();
    }

    std::size_t m_width;
    std::string m_text;
    std::vector<std::vector<std::string>> m_rows;
};

} // namespace

std::string terminalText(std::string_view markdown, std::size_t width)
{
    Page page(width);
    for (const MarkdownBlock& block : resources::markdownBlocks(markdown)) {
        page.add(block);
    }
    return page.take();
}

} // namespace residua::cli
