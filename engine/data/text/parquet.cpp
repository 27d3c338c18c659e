// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/text/parquet_table.h"

#include "engine/base/files/content_hash.h"
#include "engine/base/machine/machine.h"
#include "engine/data/text/data_files.h"
#include "engine/data/text/gathered_texts.h"
#include "projects/base/files.h"
#include "projects/base/text.h"
#include "projects/base/utf8.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <optional>
#include <ranges>
#include <string_view>

namespace residua::engine {
namespace {

constexpr const char* kParquetLibrary = "libresidua_parquet.so";
constexpr std::string_view kParquetMark = "PAR1"; ///< at the beginning and the end of a file
constexpr std::string_view kEncryptedMark = "PARE";
constexpr std::size_t kLeastParquet = 12; ///< bytes: both marks, and the length field
constexpr std::size_t kShownColumns = 20;
constexpr std::size_t kAskedEvery = std::size_t{1} << 20; ///< bytes between two calls of the watch

constexpr const char* kOtherWay =
    "or make JSON Lines of it, such as with python3 -c \"import pandas; pandas.read_parquet('IN.parquet')"
    ".to_json('OUT.jsonl.gz', orient='records', lines=True, force_ascii=False)\"";

/// Opens the library once for the process; it is never closed. Errors have no place.
Result<const ParquetTable*> openParquetTable()
{
    const std::filesystem::path path = findOwnLibrary(kParquetLibrary, "RESIDUA_PARQUET", "engine");
    if (path.empty()) {
        return Error{{},
                     "is a Parquet file, which this program was built without Apache Arrow to read: build it again "
                     "after packaging/setup.sh, " +
                         std::string(kOtherWay)};
    }
    // Arrow exports no names of the program's other libraries, so it needs no symbol scope of its own.
    const Result<void*> library = openLibrary(path, SymbolScope::Program);
    if (!library) {
        return Error{{},
                     "is a Parquet file, and Apache Arrow, which reads such files, does not load (" +
                         library.error().message +
                         "): residua-setup, or in a checkout packaging/setup.sh, installs it; " + kOtherWay};
    }
    using TableFunction = const ParquetTable* (*)();
    const auto table = reinterpret_cast<TableFunction>(dlsym(*library, kParquetTableSymbol));
    if (table == nullptr || table()->version != kParquetTableVersion) {
        return Error{{},
                     "cannot be read: " + path.string() +
                         " is not of this version of the program; install both "
                         "again"};
    }
    return table();
}

const Result<const ParquetTable*>& parquetTable()
{
    static const Result<const ParquetTable*> table = openParquetTable();
    return table;
}

/// Checks both ends of the file, which identifies most unreadable files.
Status checkMarks(const InputFile& file)
{
    const std::string place = file.path().string();
    std::string head(std::min<std::uint64_t>(file.size(), 40), '\0');
    RESIDUA_TRY(file.read(0, std::as_writable_bytes(std::span(head))));
    RESIDUA_TRY(refuseLfsPointer(file, "the Parquet file"));
    if (!head.starts_with(kParquetMark) && !head.starts_with(kEncryptedMark)) {
        return Error{place, "is not a Parquet file, as its name says: give it the name of what it is"};
    }
    std::string tail(kParquetMark.size(), '\0');
    RESIDUA_TRY(file.read(file.size() - tail.size(), std::as_writable_bytes(std::span(tail))));
    if (head.starts_with(kEncryptedMark) || tail == kEncryptedMark) {
        return Error{place, "is encrypted, and there is no key to give here: write it again without"};
    }
    if (tail != kParquetMark || file.size() < kLeastParquet) {
        return Error{place, "is cut off after " + std::to_string(file.size()) +
                                " bytes: it begins as a Parquet file and does not end as one; fetch it again"};
    }
    return Done{};
}

/// A file that is being read.
class ParquetFile {
public:
    ParquetFile(const ParquetTable& table, InputFile file, const PreparationWatch& watch, const TextMemory& memory)
        : m_table(table), m_file(std::move(file)), m_watch(watch), m_place(m_file.path().string()), m_texts(memory)
    {
    }
    ~ParquetFile()
    {
        if (m_reader != nullptr) {
            m_table.close(m_reader);
        }
    }
    ParquetFile(const ParquetFile&) = delete;
    ParquetFile& operator=(const ParquetFile&) = delete;

    [[nodiscard]] Status open()
    {
        const ParquetBytes bytes{this, m_file.size(), &readBytes};
        const ParquetTaker taker = takerOfThis();
        return statusOf(m_table.open(&bytes, m_texts.memory().left(), &taker, &m_reader));
    }

    [[nodiscard]] Result<std::size_t> columnCalled(const std::string& name) const
    {
        std::vector<std::string> all;
        std::vector<std::string> texts;
        std::optional<std::size_t> found;
        for (std::size_t i = 0; i < m_table.columns(m_reader); ++i) {
            const ParquetColumn column = m_table.column(m_reader, i);
            all.push_back(asUtf8(column.name));
            if (column.text) {
                texts.push_back(all.back());
            }
            found = !found && name == column.name ? std::optional(i) : found;
        }
        if (!found) {
            const std::string hint = meantHint(name, all, {.before = ", "});
            return Error{m_place, "has no column \"" + name + "\"" + (hint.empty() ? "; its" : hint + " Its") +
                                      " columns are: " + listOf(all) + kChoose};
        }
        const ParquetColumn column = m_table.column(m_reader, *found);
        if (!column.text) {
            return Error{m_place, "column \"" + name + "\" is " + asUtf8(column.type) +
                                      ", expected strings; its columns of strings are: " + listOf(texts) + kChoose};
        }
        if (column.encrypted) {
            return Error{m_place, "column \"" + name +
                                      "\" is encrypted, and there is no key to give here: write it again without"};
        }
        return *found;
    }

    [[nodiscard]] Result<std::vector<Document>> read(std::size_t column)
    {
        const ParquetTaker taker = takerOfThis();
        for (std::size_t group = 0; group < m_table.groups(m_reader); ++group) {
            RESIDUA_TRY(statusOf(m_table.read(m_reader, group, column, &taker)));
            m_rowsBefore += m_table.rows(m_reader, group);
            RESIDUA_TRY(stillWanted(m_watch, 0));
        }
        if (m_rowsBefore > 0 && m_texts.allEmpty()) {
            return Error{m_place, "column \"" + std::string(m_table.column(m_reader, column).name) +
                                      "\" has no text: " + std::to_string(m_rowsBefore) + " rows, of which " +
                                      std::to_string(m_texts.count()) + " are empty and the others null"};
        }
        return m_texts.take();
    }

private:
    static constexpr const char* kChoose = " (data.source.field says which is read)";

    static std::string listOf(const std::vector<std::string>& names)
    {
        const std::string list = joinedText(names | std::views::take(kShownColumns));
        return names.empty() ? "none"
               : names.size() <= kShownColumns
                   ? list
                   : list + " and " + std::to_string(names.size() - kShownColumns) + " more";
    }

    static bool readBytes(void* from, std::uint64_t offset, void* bytes, std::size_t size)
    {
        auto& self = *static_cast<ParquetFile*>(from);
        const Status read = self.m_file.read(offset, std::span(static_cast<std::byte*>(bytes), size));
        self.m_trouble = read ? self.m_trouble : read;
        return read.ok();
    }

    ParquetTaker takerOfThis()
    {
        return {this,
                [](void* to, std::int64_t row, const char* text, std::size_t size) {
                    auto& self = *static_cast<ParquetFile*>(to);
                    self.m_trouble = self.take(row, {text, size});
                    return self.m_trouble.ok();
                },
                [](void* to, const char* reason) { static_cast<ParquetFile*>(to)->m_reason = reason; }};
    }

    Status take(std::int64_t row, std::string_view text)
    {
        if (firstInvalidUtf8(text)) {
            return checkUtf8(text, m_place + " · row " + std::to_string(m_rowsBefore + row + 1));
        }
        if (!m_texts.add(text)) {
            return m_texts.memory().refusal(m_file.path(), kFewerRecords);
        }
        if (m_texts.bytes() < m_asked + kAskedEvery) {
            return Done{};
        }
        m_asked = m_texts.bytes();
        return stillWanted(m_watch, 0);
    }

    /// Returns the status of an answer. Errors of reading the bytes or storing the text take precedence over Arrow's.
    Status statusOf(ParquetAnswer answer) const
    {
        if (answer == ParquetAnswer::NoMemory) {
            throw std::bad_alloc();
        }
        if (!m_trouble) {
            return m_trouble;
        }
        if (answer == ParquetAnswer::TooLarge) { // a page, which may claim a decompressed size of up to 2 GiB
            return m_texts.memory().refusal(m_file.path(), kFewerRecords);
        }
        return answer == ParquetAnswer::Done
                   ? Status(Done{})
                   : Error{m_place, "is a Parquet file that is damaged, or of a kind that is not read (" +
                                        asUtf8(m_reason.substr(0, m_reason.find('\n'))) + ")"};
    }

    const ParquetTable& m_table;
    InputFile m_file;
    const PreparationWatch& m_watch;
    std::string m_place;
    ParquetTable::Reader* m_reader = nullptr;
    Status m_trouble = Done{};
    std::string m_reason;
    GatheredTexts m_texts;
    std::int64_t m_rowsBefore = 0; ///< of the finished row groups
    std::size_t m_asked = 0;
};

} // namespace

Result<std::vector<Document>> readParquet(const std::filesystem::path& path, const std::string& column,
                                          const PreparationWatch& watch, const TextMemory& memory)
{
    auto opened = RESIDUA_TRY(InputFile::open(path));
    RESIDUA_TRY(checkMarks(opened));
    const auto& table = parquetTable();
    if (!table) {
        return Error{path.string(), table.error().message};
    }
    ParquetFile file(**table, std::move(opened), watch, memory);
    RESIDUA_TRY(file.open());
    const auto index = file.columnCalled(column);
    return index ? file.read(*index) : Result<std::vector<Document>>(index.error());
}

} // namespace residua::engine
