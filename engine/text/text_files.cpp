// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/text_files.h"

#include "engine/text/compressed_file.h"
#include "engine/text/gathered_texts.h"
#include "engine/text/parquet.h"
#include "engine/text/text_encoding.h"
#include "projects/base/text.h"
#include "projects/base/utf8.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <iterator>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::size_t kPart = std::size_t{1} << 20;
constexpr std::size_t kLongestLine = std::size_t{64} << 20;
constexpr std::size_t kKeptOpen = 64;
constexpr std::size_t kHead = 4096; ///< bytes at the beginning that are looked at to tell the encoding

Status readText(const ByteRange& text, std::uint64_t offset, std::size_t size, std::string& out)
{
    out.resize(size);
    return text.source->read(text.begin + offset, std::as_writable_bytes(std::span(out)));
}

/// Bytes of a part that more text follows.
std::size_t cutOf(std::string_view part)
{
    for (const char end : {'\n', ' '}) {
        if (const std::size_t found = part.rfind(end); found != std::string_view::npos) {
            return found + 1;
        }
    }
    return wholeCodePoints(part);
}

/// The text of a file without its mark, all of it valid; `place` is the file.
Result<ByteRange> checkedText(const Bytes& file, const std::string& place, const PreparationWatch& watch)
{
    ByteRange text{file, 0, file->size()};
    std::string head;
    if (Status status = readText(text, 0, std::min<std::uint64_t>(text.size, kHead), head); !status) {
        return status.error();
    }
    if (Status status = checkEncoding(head, place); !status) {
        return status.error();
    }
    if (head.starts_with(kByteOrderMark)) {
        text.begin += kByteOrderMark.size();
        text.size -= kByteOrderMark.size();
    }
    TextPosition position{text.begin, 1};
    const Status valid = forEachPart(text, watch, [&](std::string_view part) -> Status {
        if (Status status = checkUtf8(part, place, position); !status) {
            return status;
        }
        position.offset += part.size();
        position.line += static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
        return Done{};
    });
    return valid ? Result<ByteRange>(std::move(text)) : Result<ByteRange>(valid.error());
}

/// The `index`-th of many texts.
Result<Bytes> openText(const fs::path& path, std::size_t index, const PreparationWatch& watch, const TextMemory& memory)
{
    if (isCompressed(path)) {
        return decompressed(path, watch, memory);
    }
    auto file = openAmong(path, index);
    return file ? Result<Bytes>(bytesOfFile(*std::move(file))) : Result<Bytes>(file.error());
}

/// The text of one JSON line; `place` is "path:line".
Result<std::string> readLine(std::string_view line, const std::string& field, const std::string& place)
{
    const Json json = Json::parse(line.begin(), line.end(), nullptr, false);
    if (json.is_discarded()) {
        return Error{place, "is not valid JSON; expected one object per line"};
    }
    if (!json.is_object()) {
        return Error{place, "is a JSON " + std::string(json.type_name()) + ", expected an object"};
    }
    const auto value = json.find(field);
    if (value == json.end()) {
        const std::string fields = joinedText(json.items(), ", ", [](const auto& item) { return item.key(); });
        return Error{place, "has no field \"" + field + "\"; its fields are: " + (fields.empty() ? "none" : fields)};
    }
    if (!value->is_string()) {
        return Error{place, "field \"" + field + "\" is a " + value->type_name() + ", expected a string"};
    }
    return value->get<std::string>();
}

/// Gathers the texts of a JSON Lines file.
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
            if (Status status = endLine(); !status) {
                return status;
            }
            part.remove_prefix(end + 1);
        }
        return Done{};
    }

    [[nodiscard]] Result<std::vector<Document>> documents()
    {
        if (Status status = endLine(); !status) {
            return status.error();
        }
        if (m_texts.count() == 0) {
            return Error{m_path.string(), "is empty, expected one JSON object per line"};
        }
        if (m_texts.allEmpty()) {
            return Error{place(m_first), "field \"" + m_field + "\" is empty here and in every other line (" +
                                             std::to_string(m_texts.count()) + " in all); expected text"};
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
        const auto value = readLine(m_line, m_field, place(number));
        if (!value) {
            return value.error();
        }
        m_line.clear();
        m_first = m_texts.count() == 0 ? number : m_first;
        return m_texts.add(*value) ? Status(Done{}) : Status(m_texts.memory().refusal(m_path, kFewerRecords));
    }

    const fs::path& m_path;
    const std::string& m_field;
    std::string m_line;
    std::size_t m_number = 1;
    std::size_t m_first = 1; ///< line of the first document
    GatheredTexts m_texts;
};

/// The files below a folder whose names end in one of those, sorted.
Result<std::vector<fs::path>> listedIn(const fs::path& folder, std::span<const std::string_view> endings)
{
    std::vector<fs::path> files;
    std::error_code code;
    fs::recursive_directory_iterator entry(folder, code);
    for (const fs::recursive_directory_iterator end; !code && entry != end; entry.increment(code)) {
        std::error_code ignored;
        const std::string name = entry->path().filename().string();
        const bool ends = std::ranges::any_of(
            endings, [&](std::string_view last) { return name.size() > last.size() && name.ends_with(last); });
        if (ends && entry->is_regular_file(ignored)) {
            files.push_back(entry->path());
        }
    }
    if (code) {
        return systemError(folder, "cannot list the folder", code.value());
    }
    std::sort(files.begin(), files.end());
    return files;
}

/// What the compressed ones of sorted files lie beside: the same, uncompressed or compressed by gzip. Empty where a
/// file stands alone.
fs::path twinOf(const fs::path& file, const std::vector<fs::path>& files)
{
    if (isCompressed(file)) {
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

/// The texts of one file of JSON Lines, the `index`-th document and those after it.
Result<std::vector<Document>> readJsonLines(const fs::path& path, const std::string& field, std::size_t index,
                                            const PreparationWatch& watch, const TextMemory& memory)
{
    if (isCompressed(path) && path.stem().extension() == kParquetEnding) {
        return Error{path.string(), "is a compressed Parquet file: decompress it; what is in it is compressed besides"};
    }
    const auto file = openText(path, index, watch, memory);
    const auto text = file ? checkedText(*file, path.string(), watch) : Result<ByteRange>(file.error());
    if (!text) {
        return text.error();
    }
    LineCollector lines(path, field, memory);
    const Status read = forEachPart(*text, watch, [&](std::string_view part) { return lines.add(part); });
    return read ? lines.documents() : Result<std::vector<Document>>(read.error());
}

} // namespace

Result<std::vector<fs::path>> filesAt(const fs::path& path, std::span<const std::string_view> endings)
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
    auto listed = listedIn(path, endings);
    if (!listed) {
        return listed;
    }
    if (listed->empty()) {
        return Error{path.string(), "the folder holds no file that ends in " + joinedText(endings)};
    }
    std::vector<fs::path> files;
    std::ranges::copy_if(*listed, std::back_inserter(files),
                         [&](const fs::path& file) { return twinOf(file, *listed).empty(); });
    return files;
}

std::vector<std::string> leftOutAt(const fs::path& path, std::span<const std::string_view> endings)
{
    std::error_code ignored;
    const auto listed = fs::is_directory(path, ignored) ? listedIn(path, endings) : std::vector<fs::path>();
    std::string first;
    std::size_t count = 0;
    for (std::size_t i = 0; listed && i < listed->size(); ++i) {
        const fs::path& file = (*listed)[i];
        const fs::path twin = twinOf(file, *listed);
        if (!twin.empty() && count++ == 0) {
            first = file.string() + " is not read, for " + twin.filename().string() + " lies beside it";
        }
    }
    if (count == 0) {
        return {};
    }
    return {first + (count == 2  ? ", and so is 1 more"
                     : count > 2 ? ", and so are " + std::to_string(count - 1) + " more"
                                 : "")};
}

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
        if (Status wanted = done > 0 ? stillWanted(watch, 0) : Done{}; !wanted) {
            return wanted;
        }
        const std::uint64_t left = text.size - done;
        const bool last = left <= kPart;
        if (Status status = readText(text, done, last ? left : kPart + 1, part); !status) {
            return status;
        }
        if (!last) {
            part.resize(cutOf(part));
        }
        if (Status status = take(part); !status) {
            return status;
        }
    }
    return Done{};
}

Result<std::vector<Document>> readTextFiles(const fs::path& path, const PreparationWatch& watch,
                                            const TextMemory& memory)
{
    const auto files = filesAt(path, projects::kTextEndings);
    if (!files) {
        return files.error();
    }
    std::vector<Document> documents;
    for (const fs::path& name : *files) {
        if (name.extension() == kParquetEnding) {
            return Error{name.string(), "is a Parquet file, expected plain text: choose the source \"JSON Lines or "
                                        "Parquet\" (json_lines)"};
        }
        const auto file = openText(name, documents.size(), watch, memory);
        if (!file) {
            return file.error();
        }
        auto text = checkedText(*file, name.string(), watch);
        if (!text) {
            return text.error();
        }
        if (text->size > 0) {
            documents.push_back(std::move(*text));
        }
    }
    if (documents.empty()) {
        return Error{path.string(), files->size() == 1 ? "is empty, expected text" : "all its files are empty"};
    }
    return documents;
}

Result<std::vector<Document>> readRecords(const fs::path& path, const std::string& field, const PreparationWatch& watch,
                                          const TextMemory& memory)
{
    const auto files = filesAt(path, projects::kRecordEndings);
    if (!files) {
        return files.error();
    }
    std::vector<Document> documents;
    for (const fs::path& name : *files) {
        auto found = name.extension() == kParquetEnding ? readParquet(name, field, watch, memory)
                                                        : readJsonLines(name, field, documents.size(), watch, memory);
        if (!found) {
            return found.error();
        }
        documents.insert(documents.end(), found->begin(), found->end());
    }
    return documents;
}

bool holdsRecords(const fs::path& path)
{
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) {
        const std::string name = path.filename().string();
        return std::ranges::any_of(projects::kRecordEndings, [&](std::string_view end) { return name.ends_with(end); });
    }
    return !filesAt(path, projects::kTextEndings) && filesAt(path, projects::kRecordEndings);
}

std::span<const std::string_view> endingsAt(const fs::path& path)
{
    using Endings = std::span<const std::string_view>;
    return holdsRecords(path) ? Endings(projects::kRecordEndings) : Endings(projects::kTextEndings);
}

Result<std::vector<Document>> readTexts(const fs::path& path, const std::string& field, const PreparationWatch& watch,
                                        const TextMemory& memory)
{
    return holdsRecords(path) ? readRecords(path, field, watch, memory) : readTextFiles(path, watch, memory);
}

} // namespace residua::engine
