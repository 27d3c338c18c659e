// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/text/data_files.h"

#include "engine/data/text/folder_files.h"
#include "engine/data/text/text_files.h"
#include "projects/base/files.h"
#include "projects/base/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <map>
#include <optional>

namespace residua::engine {

namespace {

constexpr std::string_view kJsonEnding = ".json";

namespace fs = std::filesystem;

/// The entries of a folder, as sorted lists of paths.
struct Listing {
    std::vector<fs::path> files;  ///< with one of the requested extensions
    std::vector<fs::path> hidden; ///< files and folders with names that begin with a dot or an underscore
    std::vector<fs::path> others;
    std::vector<fs::path> again; ///< links to folders that are listed already
};

Result<Listing> listedIn(const fs::path& folder, std::span<const std::string_view> endings, ReadingVersion reading)
{
    const bool enters = reading != ReadingVersion::First;
    std::vector<FolderFiles> found =
        RESIDUA_TRY(filesBelow(std::array{folder}, {}, enters ? LinkedFolders::Entered : LinkedFolders::LeftOut));
    Listing listing{{}, std::move(found.front().hidden), {}, std::move(found.front().again)};
    for (fs::path& file : found.front().files) {
        if (isFile(file)) {
            (projects::endsIn(file.native(), endings) ? listing.files : listing.others).push_back(std::move(file));
        }
    }
    // Many files named .json are metadata, not records.
    constexpr std::array kJson{kJsonEnding};
    const auto isJson = [&](const fs::path& file) { return projects::endsIn(file.native(), kJson); };
    const bool sure = !std::ranges::all_of(listing.files, isJson);
    const auto last = std::ranges::stable_partition(listing.files, [&](const fs::path& file) {
        const auto format = isJson(file) && !sure ? formatOf(file) : Result<FileFormat>(FileFormat{});
        return !isJson(file) || (!sure && (!format || format->empty || format->content == FileContent::JsonLines));
    });
    listing.others.insert(listing.others.end(), last.begin(), last.end());
    listing.files.erase(last.begin(), last.end());
    for (auto* const list : {&listing.files, &listing.others}) {
        std::ranges::sort(*list);
    }
    return listing;
}

/// Returns paths relative to the folder as text: "a.md, b.png and 7 more".
std::string namedIn(const fs::path& folder, const std::vector<fs::path>& paths)
{
    constexpr std::size_t kNamed = 3;
    const auto named = std::span(paths).first(std::min(kNamed, paths.size()));
    return joinedText(named, ", ", [&](const fs::path& path) { return path.lexically_relative(folder).string(); }) +
           (paths.size() > kNamed ? " and " + std::to_string(paths.size() - kNamed) + " more" : "");
}

/// Returns the file that makes a compressed one redundant: the same file uncompressed or compressed by gzip. Empty if
/// there is no such file. `files` must be sorted.
fs::path twinOf(const fs::path& file, const std::vector<fs::path>& files)
{
    if (!projects::compressedEnding(file.native()).empty()) {
        fs::path plain = file;
        plain.replace_extension();
        for (const fs::path& other : {plain, fs::path(plain.string() + ".gz")}) {
            if (other != file && std::ranges::binary_search(files, other)) {
                return other;
            }
        }
    }
    return {};
}

std::uint64_t bytesOf(const Result<std::vector<fs::path>>& files)
{
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; files && i < files->size(); ++i) {
        std::error_code code;
        const std::uintmax_t size = fs::file_size((*files)[i], code);
        bytes += code ? 0 : size;
    }
    return bytes;
}

std::string wordsFor(DataKind kind, const FileFormat& format)
{
    return (kind == DataKind::Tokens                 ? "ready-made tokens"
            : kind == DataKind::Text                 ? "plain text"
            : format.content == FileContent::Parquet ? "Parquet"
                                                     : "JSON Lines") +
           (format.compression != nullptr ? ", compressed by " + std::string(format.compression->name) : std::string());
}

/// Returns a note if the name of a file and its content differ; empty if they do not, or if the difference does not
/// matter.
std::string noteOn(const fs::path& path, DataKind kind, const FileFormat& format)
{
    const std::string name = path.filename().string();
    if (format.empty) {
        return "is empty";
    }
    if (kind == DataKind::Text && format.content == FileContent::JsonLines) {
        return "looks like JSON Lines, and is read as plain text with all its keys: to read one key of it, choose the "
               "source \"JSON Lines or Parquet\" (json_lines)";
    }
    if (const std::uint64_t window = windowOf(path); window > std::uint64_t{1} << 27) {
        return "is decompressed with a window of " + bytesText(static_cast<double>(window));
    }
    if (format.compression != nullptr && projects::compressedEnding(name).empty()) {
        return "is decompressed by its first bytes, for its name does not say that it is compressed by " +
               std::string(format.compression->name);
    }
    const bool told = kind == DataKind::Records && format.content != FileContent::Other;
    return told && !projects::endsIn(name, endingsOf(kind))
               ? "is taken for " + wordsFor(kind, format) + " by its first bytes"
               : std::string();
}

/// Names and counts the entries of a folder that filesAt() leaves out.
std::vector<std::string> leftOutAt(const fs::path& path, std::span<const std::string_view> endings,
                                   ReadingVersion reading)
{
    const auto listed = isFolder(path) ? listedIn(path, endings, reading) : Listing();
    std::vector<std::string> notes;
    if (!listed) {
        return notes;
    }
    std::vector<fs::path> twins;
    std::ranges::copy_if(listed->files, std::back_inserter(twins),
                         [&](const fs::path& file) { return !twinOf(file, listed->files).empty(); });
    if (!twins.empty()) {
        const std::size_t more = twins.size() - 1;
        notes.push_back(twins.front().string() + " is not read, for " +
                        twinOf(twins.front(), listed->files).filename().string() + " lies beside it" +
                        (more == 1  ? ", and so is 1 more"
                         : more > 1 ? ", and so are " + std::to_string(more) + " more"
                                    : ""));
    }
    const auto leftOut = [&](const std::vector<fs::path>& paths, const std::string& why) {
        if (!paths.empty()) {
            notes.push_back(path.string() + ": " +
                            (paths.size() == 1 ? "1 entry is" : std::to_string(paths.size()) + " entries are") +
                            " left out as " + why + ": " + namedIn(path, paths));
        }
    };
    leftOut(listed->hidden, "hidden, by a dot or an underscore");
    leftOut(listed->others, "other files");
    leftOut(listed->again, "links to folders that are read already");
    return notes;
}

} // namespace

bool isHiddenEntry(const fs::path& path)
{
    const std::string name = path.filename().string();
    return name.starts_with('.') || name.starts_with('_');
}

Result<std::vector<fs::path>> filesAt(const fs::path& path, std::span<const std::string_view> endings,
                                      ReadingVersion reading)
{
    std::error_code code;
    const fs::file_status status = fs::status(path, code);
    if (!fs::exists(status)) {
        return systemError(path, "cannot open the data", code ? code.value() : ENOENT);
    }
    if (!fs::is_directory(status)) {
        return std::vector<fs::path>{path};
    }
    if (endings.empty()) {
        return Error{path.string(), "is a folder; expected a file"};
    }
    const auto listed = RESIDUA_TRY(listedIn(path, endings, reading));
    if (listed.files.empty()) {
        return Error{path.string(), "the folder holds no file that ends in " + joinedText(endings) +
                                        ", alone or before " + joinedText(projects::kCompressedEndings)};
    }
    std::vector<fs::path> files;
    std::ranges::copy_if(listed.files, std::back_inserter(files),
                         [&](const fs::path& file) { return twinOf(file, listed.files).empty(); });
    return files;
}

DataKind kindAt(const fs::path& path, ReadingVersion reading)
{
    if (isFolder(path)) {
        const auto texts = filesAt(path, projects::kTextEndings, reading);
        const auto records = filesAt(path, projects::kRecordEndings, reading);
        if (records && (!texts || bytesOf(records) > bytesOf(texts))) {
            return DataKind::Records;
        }
        return !texts && filesAt(path, projects::kTokenEndings, reading) ? DataKind::Tokens : DataKind::Text;
    }
    const std::string name = path.filename().string();
    const auto format = formatOf(path);
    const FileContent content = format ? format->content : FileContent::Other;
    const bool text = projects::endsIn(name, projects::kTextEndings);
    const bool records = content == FileContent::JsonLines || content == FileContent::Parquet;
    if (content == FileContent::HeadedTokens) { // which no text begins with
        return DataKind::Tokens;
    }
    if (text || records) {
        return text ? DataKind::Text : DataKind::Records;
    }
    const bool tokens = projects::endsIn(name, projects::kTokenEndings);
    // A .json that does not begin as JSON Lines is one document, and its text can be read.
    const bool named =
        projects::endsIn(name, projects::kRecordEndings) && !projects::endsIn(name, std::array{kJsonEnding});
    return tokens ? DataKind::Tokens : named ? DataKind::Records : DataKind::Text;
}

std::span<const std::string_view> endingsOf(DataKind kind)
{
    switch (kind) {
    case DataKind::Records:
        return projects::kRecordEndings;
    case DataKind::Tokens:
        return projects::kTokenEndings;
    case DataKind::Text:
        break;
    }
    return projects::kTextEndings;
}

DataLook lookAt(const fs::path& path, DataKind kind, ReadingVersion reading)
{
    DataLook look{{}, leftOutAt(path, endingsOf(kind), reading)};
    std::map<std::string, std::size_t> kinds;
    std::map<std::string, std::vector<std::string>> notes; // equal notes of several files are combined
    const auto files = filesAt(path, endingsOf(kind), reading);
    for (std::size_t i = 0; files && i < files->size(); ++i) {
        const auto format = formatOf((*files)[i]);
        if (!format) {
            continue;
        }
        ++kinds[wordsFor(kind, *format)];
        if (const std::string note = noteOn((*files)[i], kind, *format); !note.empty()) {
            notes[note].push_back((*files)[i].string());
        }
    }
    look.files =
        joinedText(kinds, "; ", [](const auto& one) { return countText(one.second, "file") + " of " + one.first; });
    for (const auto& [note, names] : notes) {
        look.notes.push_back(names.front() + " " + note +
                             (names.size() > 1 ? ", and so on for " + countText(names.size() - 1, "more file") : ""));
    }
    return look;
}

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
    const Document document = RESIDUA_TRY(readTextFile(path, watch));
    std::string text;
    RESIDUA_TRY(forEachPart(document, watch, [&](std::string_view part) {
        text += part;
        return Status(Done{});
    }));
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
