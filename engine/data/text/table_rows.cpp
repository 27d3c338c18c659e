// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/text/table_rows.h"

#include "engine/data/text/text_files.h"
#include "projects/base/text.h"
#include "projects/model/data_endings.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Values = std::vector<std::string>;

/// Splits the text of a table into rows of values.
class Cutter {
public:
    Cutter(std::string_view text, char separator) : m_text(text), m_separator(separator) {}

    /// Returns the line of the next row, from 1.
    [[nodiscard]] std::size_t line() const { return m_line; }

    /// Returns the next row that is not blank, or nullopt at the end. The error has no place.
    [[nodiscard]] Result<std::optional<Values>> next()
    {
        skipBlankLines();
        if (m_text.empty()) {
            return std::optional<Values>();
        }
        m_lineAfter = m_line;
        Values values(1);
        const bool quotes = m_separator == ',';
        for (bool begins = true;;) {
            if (m_text.empty() || m_text.front() == '\n') {
                return std::optional(std::move(values));
            }
            const char c = m_text.front();
            if (quotes && begins && c == '"') {
                if (!takeQuoted(values.back())) {
                    return Error{{}, "has a quote that does not end"};
                }
                begins = false;
                continue;
            }
            m_text.remove_prefix(1);
            begins = c == m_separator;
            if (begins) {
                values.emplace_back();
            } else if (c != '\r' || (!m_text.empty() && m_text.front() != '\n')) {
                values.back() += c;
            }
        }
    }

private:
    void skipBlankLines()
    {
        m_line = m_lineAfter;
        while (!m_text.empty() && (m_text.front() == '\n' || m_text.starts_with("\r\n"))) {
            m_line += m_text.front() == '\n' ? 1 : 0;
            m_text.remove_prefix(1);
        }
    }

    /// Appends a quoted value, in which "" is a quote. Returns false if it does not end.
    [[nodiscard]] bool takeQuoted(std::string& value)
    {
        for (m_text.remove_prefix(1);;) {
            const std::size_t end = m_text.find('"');
            if (end == std::string_view::npos) {
                return false;
            }
            value += m_text.substr(0, end);
            m_lineAfter += static_cast<std::size_t>(std::ranges::count(m_text.substr(0, end), '\n'));
            m_text.remove_prefix(end + 1);
            if (m_text.empty() || m_text.front() != '"') {
                return true;
            }
            value += '"';
            m_text.remove_prefix(1);
        }
    }

    std::string_view m_text;
    char m_separator;
    std::size_t m_line = 1;
    std::size_t m_lineAfter = 1; ///< the line of the end of the row
};

Error placed(const fs::path& path, std::size_t line, std::string message)
{
    return {path.string() + ":" + std::to_string(line), std::move(message)};
}

std::string lacks(const std::string& column, const Values& names)
{
    return "has no column \"" + column + "\"; its columns are: " + (names.empty() ? "none" : joinedText(names));
}

Result<std::vector<TableRow>> rowsOf(const fs::path& path, std::string_view text, char separator, const Values& columns)
{
    Cutter cutter(text, separator);
    std::vector<TableRow> rows;
    std::vector<std::size_t> wanted;
    std::size_t width = 0;
    for (;;) {
        Result<std::optional<Values>> row = cutter.next();
        if (!row) {
            return placed(path, cutter.line(), row.error().message);
        }
        if (!*row) {
            return rows;
        }
        Values& values = **row;
        if (width == 0) {
            width = values.size();
            for (const std::string& column : columns) {
                const auto found = std::ranges::find(values, column);
                if (found == values.end()) {
                    return placed(path, cutter.line(), lacks(column, values));
                }
                wanted.push_back(static_cast<std::size_t>(found - values.begin()));
            }
            continue;
        }
        if (values.size() != width) {
            return placed(path, cutter.line(),
                          "has " + std::to_string(values.size()) + " values, expected " + std::to_string(width));
        }
        TableRow& added = rows.emplace_back();
        added.line = cutter.line();
        for (const std::size_t column : wanted) {
            added.values.push_back(values[column]);
        }
    }
}

/// Returns the value of a key as text. The error has no place.
Result<std::string> valueOf(const Json& object, const std::string& key)
{
    const auto found = object.find(key);
    if (found == object.end()) {
        Values names;
        for (const auto& item : object.items()) {
            names.push_back(item.key());
        }
        return Error{{}, lacks(key, names)};
    }
    if (found->is_string()) {
        return found->get<std::string>();
    }
    if (found->is_number() || found->is_boolean()) {
        return found->dump();
    }
    return Error{{},
                 "key \"" + key + "\" is a JSON " + found->type_name() + ", expected text, a number or a truth value"};
}

Result<std::vector<TableRow>> rowsOfJson(const fs::path& path, std::string_view text, const Values& columns)
{
    std::vector<TableRow> rows;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
            continue;
        }
        const Json object = Json::parse(line.begin(), line.end(), nullptr, false);
        if (!object.is_object()) {
            return placed(path, number, "is no JSON object, expected one in each line");
        }
        TableRow& row = rows.emplace_back();
        row.line = number;
        for (const std::string& column : columns) {
            Result<std::string> value = valueOf(object, column);
            if (!value) {
                return placed(path, number, value.error().message);
            }
            row.values.push_back(*std::move(value));
        }
    }
    return rows;
}

} // namespace

Result<std::vector<TableRow>> readTable(const fs::path& path, const Values& columns, const PreparationWatch& watch)
{
    const Result<Document> document = readTextFile(path, watch);
    if (!document) {
        return document.error();
    }
    std::string text;
    const Status read = forEachPart(*document, watch, [&](std::string_view part) {
        text += part;
        return Status(Done{});
    });
    if (!read) {
        return read.error();
    }
    constexpr std::array<std::string_view, 1> kCsv{".csv"};
    constexpr std::array<std::string_view, 1> kTsv{".tsv"};
    const bool csv = projects::endsIn(path.native(), kCsv);
    const bool tsv = projects::endsIn(path.native(), kTsv);
    Result<std::vector<TableRow>> rows =
        csv || tsv ? rowsOf(path, text, csv ? ',' : '\t', columns) : rowsOfJson(path, text, columns);
    if (rows && rows->empty()) {
        return Error{path.string(), "has no rows"};
    }
    return rows;
}

} // namespace residua::engine
