// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/text/parquet_table.h"

#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <parquet/column_reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>
#include <parquet/schema.h>

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <new>
#include <utility>

namespace residua::engine {
namespace {

using Answer = ParquetAnswer;

constexpr std::int64_t kValues = 1024;                      ///< decoded at once
constexpr std::int64_t kReadAtOnce = std::int64_t{1} << 20; ///< bytes of a column read before decoding

/// The caller's bytes as a file for Arrow.
class CallersFile : public arrow::io::RandomAccessFile {
public:
    explicit CallersFile(const ParquetBytes& bytes) : m_bytes(bytes) {}

    arrow::Status Close() override
    {
        m_closed = true;
        return arrow::Status::OK();
    }
    bool closed() const override { return m_closed; }
    arrow::Result<std::int64_t> Tell() const override { return m_place; }
    arrow::Status Seek(std::int64_t place) override
    {
        m_place = place;
        return arrow::Status::OK();
    }
    arrow::Result<std::int64_t> GetSize() override { return static_cast<std::int64_t>(m_bytes.size); }

    arrow::Result<std::int64_t> ReadAt(std::int64_t offset, std::int64_t size, void* out) override
    {
        const std::int64_t there = inFile(offset, size);
        if (there > 0 &&
            !m_bytes.read(m_bytes.from, static_cast<std::uint64_t>(offset), out, static_cast<std::size_t>(there))) {
            return arrow::Status::IOError("its bytes cannot be read");
        }
        return there;
    }
    arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(std::int64_t offset, std::int64_t size) override
    {
        // Allocates no more than the file has, whatever it claims.
        const std::int64_t there = inFile(offset, size);
        ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateBuffer(there, arrow::system_memory_pool()));
        ARROW_RETURN_NOT_OK(ReadAt(offset, there, buffer->mutable_data()).status());
        return std::shared_ptr<arrow::Buffer>(std::move(buffer));
    }
    arrow::Result<std::int64_t> Read(std::int64_t size, void* out) override
    {
        ARROW_ASSIGN_OR_RAISE(const std::int64_t got, ReadAt(m_place, size, out));
        m_place += got;
        return got;
    }
    arrow::Result<std::shared_ptr<arrow::Buffer>> Read(std::int64_t size) override
    {
        ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(m_place, size));
        m_place += buffer->size();
        return buffer;
    }

private:
    [[nodiscard]] std::int64_t inFile(std::int64_t offset, std::int64_t size) const
    {
        const auto all = static_cast<std::int64_t>(m_bytes.size);
        return offset < 0 || offset > all ? 0 : std::clamp<std::int64_t>(size, 0, all - offset);
    }

    ParquetBytes m_bytes;
    std::int64_t m_place = 0;
    bool m_closed = false;
};

struct Column {
    std::string name;
    std::string type;
    bool text = false;
    bool encrypted = false;
};

struct OpenFile {
    std::unique_ptr<arrow::MemoryPool> pool; ///< outlives everything allocated from it
    std::unique_ptr<parquet::ParquetFileReader> file;
    std::shared_ptr<parquet::FileMetaData> metadata;
    std::vector<Column> columns;
};

OpenFile& fileOf(ParquetTable::Reader* reader)
{
    return *static_cast<OpenFile*>(reader);
}

const OpenFile& fileOf(const ParquetTable::Reader* reader)
{
    return *static_cast<const OpenFile*>(reader);
}

/// Calls `work` and converts its exceptions to answers.
template <class Work>
Answer answered(const ParquetTaker& taker, Work&& work)
{
    try {
        return work();
    } catch (const std::bad_alloc&) {
        return Answer::NoMemory;
    } catch (const parquet::ParquetStatusException& error) {
        if (error.status().IsOutOfMemory()) {
            return Answer::TooLarge; // the pool's limit, or the machine's
        }
        taker.say(taker.to, error.status().message().c_str());
    } catch (const std::exception& error) {
        taker.say(taker.to, error.what());
    }
    return Answer::Refused;
}

bool isString(const parquet::ColumnDescriptor& column)
{
    const auto& logical = column.logical_type();
    return column.physical_type() == parquet::Type::BYTE_ARRAY &&
           ((logical && logical->is_string()) || column.converted_type() == parquet::ConvertedType::UTF8);
}

std::string typeOf(const parquet::ColumnDescriptor& column)
{
    const auto& logical = column.logical_type();
    const bool annotated = logical && !logical->is_none() && logical->is_valid();
    const std::string type = isString(column) ? "String"
                             : annotated      ? logical->ToString()
                                              : parquet::TypeToString(column.physical_type());
    return column.max_repetition_level() > 0 ? "a list of " + type : type;
}

/// True if the column is encrypted in any row group. If a column has its own key, even its metadata are encrypted, and
/// reading them throws.
bool isEncrypted(const parquet::FileMetaData& metadata, int column)
{
    if (!metadata.is_encryption_algorithm_set()) {
        return false;
    }
    for (int group = 0; group < metadata.num_row_groups(); ++group) {
        try {
            if (metadata.RowGroup(group)->ColumnChunk(column)->crypto_metadata()) {
                return true;
            }
        } catch (const parquet::ParquetException&) {
            return true;
        }
    }
    return false;
}

/// Returns a pool that limits allocations from the system's pool from now on; other readers use that pool at the same
/// time.
std::unique_ptr<arrow::MemoryPool> limitedPool(std::uint64_t most)
{
    constexpr std::uint64_t kLeast = std::uint64_t{8} << 20; // for the buffers that any file needs
    arrow::MemoryPool* const system = arrow::system_memory_pool();
    const auto limit = static_cast<std::int64_t>(std::clamp(most, kLeast, std::uint64_t{1} << 62));
    return std::make_unique<arrow::CappedMemoryPool>(system, system->bytes_allocated() + limit);
}

Answer open(const ParquetBytes* bytes, std::uint64_t most, const ParquetTaker* taker, ParquetTable::Reader** reader)
{
    return answered(*taker, [&] {
        auto opened = std::make_unique<OpenFile>();
        opened->pool = limitedPool(most);
        parquet::ReaderProperties properties(opened->pool.get());
        properties.enable_buffered_stream(); // otherwise a row group's column is in memory twice
        properties.set_buffer_size(kReadAtOnce);
        properties.set_page_checksum_verification(true);
        opened->file = parquet::ParquetFileReader::Open(std::make_shared<CallersFile>(*bytes), properties);
        opened->metadata = opened->file->metadata();
        const parquet::SchemaDescriptor& schema = *opened->metadata->schema();
        for (int i = 0; i < schema.num_columns(); ++i) {
            const parquet::ColumnDescriptor& column = *schema.Column(i);
            opened->columns.push_back({column.path()->ToDotString(), typeOf(column),
                                       isString(column) && column.max_repetition_level() == 0,
                                       isEncrypted(*opened->metadata, i)});
        }
        *reader = opened.release();
        return Answer::Done;
    });
}

void close(ParquetTable::Reader* reader)
{
    delete static_cast<OpenFile*>(reader);
}

std::size_t columns(const ParquetTable::Reader* reader)
{
    return fileOf(reader).columns.size();
}

ParquetColumn column(const ParquetTable::Reader* reader, std::size_t index)
{
    const Column& found = fileOf(reader).columns[index];
    return {found.name.c_str(), found.type.c_str(), found.text, found.encrypted};
}

std::size_t groups(const ParquetTable::Reader* reader)
{
    return static_cast<std::size_t>(fileOf(reader).metadata->num_row_groups());
}

std::int64_t rows(const ParquetTable::Reader* reader, std::size_t group)
{
    return fileOf(reader).metadata->RowGroup(static_cast<int>(group))->num_rows();
}

Answer read(ParquetTable::Reader* reader, std::size_t group, std::size_t column, const ParquetTaker* taker)
{
    return answered(*taker, [&] {
        const auto row = fileOf(reader).file->RowGroup(static_cast<int>(group));
        const auto any = row->Column(static_cast<int>(column));
        auto& texts = dynamic_cast<parquet::ByteArrayReader&>(*any);
        const std::int16_t whole = any->descr()->max_definition_level(); // of a value that is not null
        std::array<std::int16_t, kValues> levels{};
        std::array<parquet::ByteArray, kValues> values{};
        std::int64_t done = 0;
        while (texts.HasNext()) {
            std::int64_t there = 0;
            const std::int64_t got = texts.ReadBatch(kValues, levels.data(), nullptr, values.data(), &there);
            if (got == 0 && there == 0) {
                break;
            }
            std::int64_t next = 0;
            for (std::int64_t i = 0; i < (whole > 0 ? got : there); ++i, ++done) {
                if (whole > 0 && levels[static_cast<std::size_t>(i)] < whole) {
                    continue;
                }
                if (next == there) {
                    throw parquet::ParquetException("a page has fewer values than it says");
                }
                const parquet::ByteArray& text = values[static_cast<std::size_t>(next++)];
                if (!taker->put(taker->to, done, reinterpret_cast<const char*>(text.ptr), text.len)) {
                    return Answer::Stopped;
                }
            }
        }
        if (done != row->metadata()->num_rows()) {
            throw parquet::ParquetException("row group ", group, " has ", done, " values of the column, expected ",
                                            row->metadata()->num_rows());
        }
        return Answer::Done;
    });
}

} // namespace
} // namespace residua::engine

extern "C" __attribute__((visibility("default"))) const residua::engine::ParquetTable* residuaParquet()
{
    using namespace residua::engine;
    static const ParquetTable table{.version = kParquetTableVersion,
                                    .open = &open,
                                    .close = &close,
                                    .columns = &columns,
                                    .column = &column,
                                    .groups = &groups,
                                    .rows = &rows,
                                    .read = &read};
    return &table;
}
