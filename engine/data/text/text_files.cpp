// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/text/text_files.h"

#include "engine/data/text/compressed_file.h"
#include "engine/data/text/data_files.h"
#include "engine/data/text/gathered_texts.h"
#include "engine/data/text/parquet_table.h"
#include "projects/base/json_tree.h"
#include "projects/base/text.h"
#include "projects/base/utf8.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::size_t kPart = std::size_t{1} << 20;
constexpr std::size_t kLongestLine = std::size_t{64} << 20;
constexpr std::size_t kKeptOpen = 64;
constexpr std::size_t kHead = 4096; ///< the number of bytes at the beginning that are checked for the encoding

Status readText(const ByteRange& text, std::uint64_t offset, std::size_t size, std::string& out)
{
    out.resize(size);
    return text.source->read(text.begin + offset, std::as_writable_bytes(std::span(out)));
}

/// Returns the size of a part if more text follows it.
std::size_t cutOf(std::string_view part)
{
    for (const char end : {'\n', ' '}) {
        if (const std::size_t found = part.rfind(end); found != std::string_view::npos) {
            return found + 1;
        }
    }
    return wholeCodePoints(part);
}

/// Returns the text of a file without its byte order mark, checked for valid UTF-8; `place` is the file.
Result<ByteRange> checkedText(const Bytes& file, const std::string& place, const PreparationWatch& watch)
{
    ByteRange text{file, 0, file->size()};
    std::string head;
    RESIDUA_TRY(readText(text, 0, std::min<std::uint64_t>(text.size, kHead), head));
    RESIDUA_TRY(checkEncoding(head, place));
    if (head.starts_with(kByteOrderMark)) {
        text.begin += kByteOrderMark.size();
        text.size -= kByteOrderMark.size();
    }
    TextPosition position{text.begin, 1};
    const Status valid = forEachPart(text, watch, [&](std::string_view part) -> Status {
        RESIDUA_TRY(checkUtf8(part, place, position));
        position.offset += part.size();
        position.line += static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
        return Done{};
    });
    return valid ? Result<ByteRange>(std::move(text)) : Result<ByteRange>(valid.error());
}

/// Returns the command that makes a project of a file by what it contains.
std::string newProjectOf(const fs::path& file)
{
    return ", or make a project of it with residua-cli new DIR --data " + shellWord(file.string());
}

/// Opens the text number `index` of several.
Result<Bytes> openText(const fs::path& path, std::size_t index, const PreparationWatch& watch, const TextMemory& memory)
{
    const auto format = RESIDUA_TRY(formatOf(path));
    if (format.content == FileContent::HeadedTokens) {
        return Error{path.string(),
                     "is ready-made tokens, expected text: choose the source \"token file\"" + newProjectOf(path)};
    }
    if (format.compression != nullptr) {
        return decompressed(path, *format.compression, watch, memory);
    }
    auto file = openAmong(path, index);
    return file ? Result<Bytes>(bytesOfFile(*std::move(file))) : Result<Bytes>(file.error());
}

/// Returns the checked text of the file number `index` of several.
Result<ByteRange> readFileText(const fs::path& path, std::size_t index, const PreparationWatch& watch,
                               const TextMemory& memory)
{
    const auto file = openText(path, index, watch, memory);
    return file ? checkedText(*file, path.string(), watch) : Result<ByteRange>(file.error());
}

/// Returns the value of a field by its name, or else by its path of names joined by dots; null if it is missing.
const Json* valueAt(const Json& object, std::string_view field)
{
    if (!object.is_object()) {
        return nullptr;
    }
    if (const auto found = object.find(field); found != object.end()) {
        return &*found;
    }
    const std::size_t dot = field.find('.');
    const auto group = dot == std::string_view::npos ? object.end() : object.find(field.substr(0, dot));
    return group != object.end() ? valueAt(*group, field.substr(dot + 1)) : nullptr;
}

/// Returns the text of one JSON line, nullopt if it is null. Errors have no place.
Result<std::optional<std::string>> readLine(std::string_view line, const std::string& field)
{
    const Json json = Json::parse(line.begin(), line.end(), nullptr, false);
    if (json.is_discarded()) {
        constexpr std::string_view kLine = "line 1, ";
        const auto reason = projects::parseJson(line); // slower, but gives the reason
        const std::string place = reason ? std::string() : reason.error().place;
        const std::string why = reason ? std::string()
                                       : ", " + (place.starts_with(kLine) ? place.substr(kLine.size()) : place) + ": " +
                                             reason.error().message;
        return Error{{}, "is not valid JSON" + why + "; expected one object per line"};
    }
    if (!json.is_object()) {
        return Error{{}, "is a JSON " + std::string(json.type_name()) + ", expected an object"};
    }
    const Json* const value = valueAt(json, field);
    if (value == nullptr) {
        const std::string fields = joinedText(json.items(), ", ", [](const auto& item) { return item.key(); });
        return Error{{}, "has no field \"" + field + "\"; its fields are: " + (fields.empty() ? "none" : fields)};
    }
    if (value->is_null()) {
        return std::optional<std::string>();
    }
    if (!value->is_string()) {
        return Error{{}, "field \"" + field + "\" is a JSON " + value->type_name() + ", expected a string"};
    }
    return std::optional(value->get<std::string>());
}

/// Collects the texts of a JSON Lines file.
class LineCollector {
public:
    LineCollector(const fs::path& path, const std::string& field, const TextMemory& memory)
        : m_path(path), m_field(field), m_texts(memory)
    {
    }

    [[nodiscard]] Status add(std::string_view part)
    {
        while (!part.empty()) {
            const std::size_t end = part.find('\n');
            m_line += part.substr(0, end);
            if (m_line.size() > kLongestLine) {
                return Error{place(m_number), "the line has more than " + std::to_string(kLongestLine >> 20) +
                                                  " MiB; expected one "
                                                  "document per line"};
            }
            if (end == std::string_view::npos) {
                return Done{};
            }
            RESIDUA_TRY(endLine());
            part.remove_prefix(end + 1);
        }
        return Done{};
    }

    /// Returns the error of the first bad line so far; nullopt if all lines are good.
    [[nodiscard]] std::optional<Error> fault() const { return m_bad > 0 ? std::optional(m_firstBad) : std::nullopt; }

    [[nodiscard]] Result<std::vector<Document>> documents()
    {
        RESIDUA_TRY(endLine());
        if (m_bad > 1) {
            m_firstBad.message +=
                "; so are other lines, " + std::to_string(m_bad) + " of " + std::to_string(m_lines) + " in all";
        }
        if (m_bad > 0) {
            return m_firstBad;
        }
        if (m_lines > 0 && m_texts.allEmpty()) {
            return Error{place(m_first), "field \"" + m_field + "\" is empty or null here and in every other line (" +
                                             std::to_string(m_lines) + " in all); expected text"};
        }
        return m_texts.take();
    }

private:
    [[nodiscard]] std::string place(std::size_t line) const { return m_path.string() + ":" + std::to_string(line); }

    [[nodiscard]] Status endLine()
    {
        const std::size_t number = m_number++;
        if (m_line.find_first_not_of(" \t\r") == std::string::npos) {
            m_line.clear();
            return Done{};
        }
        m_first = m_lines++ == 0 ? number : m_first;
        const auto value = readLine(m_line, m_field);
        m_line.clear();
        if (!value) {
            m_firstBad = m_bad++ == 0 ? Error{place(number), value.error().message} : m_firstBad;
            return Done{};
        }
        const bool wanted = *value && m_bad == 0;
        return !wanted || m_texts.add(**value) ? Status(Done{}) : m_texts.memory().refusal(m_path, kFewerRecords);
    }

    const fs::path& m_path;
    const std::string& m_field;
    std::string m_line;
    std::size_t m_number = 1;
    std::size_t m_first = 1; ///< the line of the first record
    std::size_t m_lines = 0; ///< the number of nonblank lines
    std::size_t m_bad = 0;
    Error m_firstBad;
    GatheredTexts m_texts;
};

/// Returns the texts of a JSON Lines file as the documents from number `index`.
Result<std::vector<Document>> readJsonLines(const fs::path& path, const std::string& field, std::size_t index,
                                            const PreparationWatch& watch, const TextMemory& memory)
{
    const auto text = RESIDUA_TRY(readFileText(path, index, watch, memory));
    LineCollector lines(path, field, memory);
    const Status read = forEachPart(text, watch, [&](std::string_view part) { return lines.add(part); });
    const auto known = read ? std::nullopt : lines.fault();
    return read ? lines.documents() : Result<std::vector<Document>>(known ? *known : read.error());
}

/// True if a file that is not empty is read as Parquet.
bool isParquet(const fs::path& path, const FileFormat& format)
{
    return format.content == FileContent::Parquet || projects::endsIn(path.native(), std::array{kParquetEnding});
}

/// Returns the texts of one file of records: Parquet, JSON Lines, or an empty file.
Result<std::vector<Document>> readRecordsOf(const fs::path& path, const std::string& field, std::size_t index,
                                            const PreparationWatch& watch, const TextMemory& memory)
{
    const auto format = RESIDUA_TRY(formatOf(path));
    if (format.empty || !isParquet(path, format)) {
        return readJsonLines(path, field, index, watch, memory);
    }
    if (format.compression != nullptr) {
        return Error{path.string(), "is a compressed Parquet file: decompress it; what is in it is compressed besides"};
    }
    return readParquet(path, field, watch, memory);
}

} // namespace

Result<InputFile> openAmong(const fs::path& path, std::size_t index)
{
    Result<InputFile> file = InputFile::open(path);
    if (file && index >= kKeptOpen) {
        file->release();
    }
    return file;
}

Status forEachPart(const ByteRange& text, const PreparationWatch& watch,
                   const std::function<Status(std::string_view part)>& take)
{
    std::string part;
    for (std::uint64_t done = 0; done < text.size; done += part.size()) {
        RESIDUA_TRY(done > 0 ? stillWanted(watch, 0) : Done{});
        const std::uint64_t left = text.size - done;
        const bool last = left <= kPart;
        RESIDUA_TRY(readText(text, done, last ? left : kPart + 1, part));
        if (!last) {
            part.resize(cutOf(part));
        }
        RESIDUA_TRY(take(part));
    }
    return Done{};
}

Result<Document> readTextFile(const fs::path& path, const PreparationWatch& watch, const TextMemory& memory)
{
    return readFileText(path, 0, watch, memory);
}

Result<std::vector<Document>> readTextFiles(const fs::path& path, const PreparationWatch& watch,
                                            const TextMemory& memory, ReadingVersion reading)
{
    const auto files = RESIDUA_TRY(filesAt(path, projects::kTextEndings, reading));
    std::vector<Document> documents;
    for (const fs::path& name : files) {
        if (const auto format = formatOf(name); format && format->content == FileContent::Parquet) {
            return Error{name.string(), "is a Parquet file, expected plain text: choose the source \"JSON Lines or "
                                        "Parquet\" (json_lines)" +
                                            newProjectOf(name)};
        }
        auto text = RESIDUA_TRY(readFileText(name, documents.size(), watch, memory));
        if (text.size > 0) {
            documents.push_back(std::move(text));
        }
    }
    if (documents.empty()) {
        return Error{path.string(), files.size() == 1 ? "is empty, expected text" : "all its files are empty"};
    }
    return documents;
}

Result<std::vector<Document>> readRecords(const fs::path& path, const std::string& field, const PreparationWatch& watch,
                                          const TextMemory& memory, ReadingVersion reading)
{
    const auto files = RESIDUA_TRY(filesAt(path, projects::kRecordEndings, reading));
    std::vector<Document> documents;
    for (const fs::path& name : files) {
        auto found = RESIDUA_TRY(readRecordsOf(name, field, documents.size(), watch, memory));
        documents.insert(documents.end(), found.begin(), found.end());
    }
    if (documents.empty()) {
        return Error{path.string(), files.size() == 1 ? "is empty, expected one JSON object per line or rows of Parquet"
                                                      : "all its files are empty"};
    }
    return documents;
}

Status checkFirstRecords(const fs::path& path, const std::string& field)
{
    const auto files = RESIDUA_TRY(filesAt(path, projects::kRecordEndings));
    const fs::path& first = files.front();
    const auto format = RESIDUA_TRY(formatOf(first));
    if (format.empty || isParquet(first, format)) {
        return Done{};
    }
    std::string head = RESIDUA_TRY(headOf(first, format.compression, kPart));
    if (head.size() < kPart) {
        head += '\n';
    } else {
        head.resize(head.rfind('\n') + 1); // npos + 1 is 0
    }
    if (head.starts_with(kByteOrderMark)) {
        head.erase(0, kByteOrderMark.size());
    }
    const TextMemory memory;
    LineCollector lines(first, field, memory);
    const Status added = lines.add(head);
    const auto fault = added ? lines.fault() : added.error();
    return fault ? Status(*fault) : Status(Done{});
}

Result<std::vector<Document>> linesOf(const std::vector<Document>& documents, const PreparationWatch& watch)
{
    std::vector<Document> lines;
    for (const Document& document : documents) {
        std::uint64_t begin = document.begin;
        std::uint64_t done = document.begin;
        RESIDUA_TRY(forEachPart(document, watch, [&](std::string_view part) -> Status {
            for (std::size_t at = part.find('\n'); at != std::string_view::npos; at = part.find('\n', at + 1)) {
                const std::uint64_t next = done + at + 1;
                if (next - begin > 1) {
                    lines.push_back({document.source, begin, next - begin});
                }
                begin = next;
            }
            done += part.size();
            return Done{};
        }));
        if (begin < done) {
            lines.push_back({document.source, begin, done - begin});
        }
    }
    return lines;
}

Result<std::vector<Document>> readTexts(const fs::path& path, const std::string& field, const PreparationWatch& watch,
                                        const TextMemory& memory, ReadingVersion reading)
{
    return kindAt(path, reading) == DataKind::Records ? readRecords(path, field, watch, memory, reading)
                                                      : readTextFiles(path, watch, memory, reading);
}

} // namespace residua::engine
