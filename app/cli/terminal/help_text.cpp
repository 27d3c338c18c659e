// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/terminal/terminal_text.h"

#include <algorithm>
#include <sstream>
#include <vector>

namespace residua::cli {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kNarrowest = 20; ///< minimum columns of text, whatever the terminal's width
constexpr std::size_t kGap = 2;        ///< between the columns of a table

/// Removes the marks of inline Markdown: code, emphasis and links.
std::string wordsOf(std::string_view text)
{
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const bool startsWord = i == 0 || text[i - 1] == ' ' || text[i - 1] == '(';
        if (c == '`') {
            const std::size_t end = std::min(text.find('`', i + 1), text.size());
            result += text.substr(i + 1, end - i - 1);
            i = end;
        } else if (const std::size_t link = text.find("](", i); c == '[' && link < text.find(']', i + 1) + 1) {
            result += text.substr(i + 1, link - i - 1);
            i = std::min(text.find(')', link), text.size());
        } else if (const std::size_t end = text.find('*', i + 1);
                   c == '*' && startsWord && end != std::string_view::npos && text[end - 1] != ' ') {
            result += text.substr(i + 1, end - i - 1);
            i = end;
        } else {
            result += c;
        }
    }
    return result;
}

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

std::vector<std::string> cellsOf(std::string_view row)
{
    std::vector<std::string> cells;
    row.remove_prefix(1);
    for (std::size_t end = row.find('|'); end != std::string_view::npos; end = row.find('|')) {
        const std::string cell = wordsOf(row.substr(0, end));
        const std::size_t first = std::min(cell.find_first_not_of(' '), cell.size());
        cells.push_back(cell.substr(first, cell.find_last_not_of(' ') + 1 - first));
        row.remove_prefix(end + 1);
    }
    return cells;
}

/// Converts a page to lines, block by block.
class Page {
public:
    explicit Page(std::size_t width) : m_width(std::max(width, kIndent + kNarrowest)) {}

    void add(std::string_view line)
    {
        if (line.starts_with("    ") && !m_isItem) {
            flush();
            m_text += std::string(line) + "\n";
        } else if (line.empty()) {
            flush();
            m_text += "\n";
        } else if (line.starts_with("#")) {
            flush();
            m_text += wordsOf(line.substr(std::min(line.find(' '), line.size() - 1) + 1)) + "\n";
        } else if (line.starts_with("|")) {
            if (!line.starts_with("|-")) {
                m_rows.push_back(cellsOf(line));
            }
        } else {
            if (line.starts_with("- ")) {
                flush();
                m_isItem = true;
                line.remove_prefix(2);
            }
            m_paragraph += std::string(line) + " ";
        }
    }

    [[nodiscard]] std::string take()
    {
        flush();
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

    void flush()
    {
        if (!m_paragraph.empty()) {
            const std::string first = std::string(kIndent, ' ') + (m_isItem ? "- " : "");
            addLines(wrapped(wordsOf(m_paragraph), m_width - first.size()), first);
        }
        m_paragraph.clear();
        m_isItem = false;
        addTable();
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
    std::string m_paragraph;
    bool m_isItem = false; ///< true if the paragraph is an item of a list
    std::vector<std::vector<std::string>> m_rows;
};

} // namespace

std::string terminalText(std::string_view markdown, std::size_t width)
{
    Page page(width);
    while (!markdown.empty()) {
        const std::size_t end = std::min(markdown.find('\n'), markdown.size());
        page.add(markdown.substr(0, end));
        markdown.remove_prefix(std::min(end + 1, markdown.size()));
    }
    return page.take();
}

} // namespace residua::cli
