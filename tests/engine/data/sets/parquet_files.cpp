// SPDX-License-Identifier: GPL-3.0-or-later
#include "parquet_files.h"

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <arrow/util/secure_string.h>
#include <parquet/arrow/writer.h>
#include <parquet/encryption/encryption.h>
#include <parquet/properties.h>

#include <array>
#include <map>
#include <memory>
#include <stdexcept>

namespace residua::tests {
namespace {

using Texts = std::vector<std::optional<std::string>>;

void check(const arrow::Status& status)
{
    if (!status.ok()) {
        throw std::runtime_error(status.ToString());
    }
}

std::shared_ptr<arrow::Array> finished(arrow::ArrayBuilder& builder)
{
    std::shared_ptr<arrow::Array> array;
    check(builder.Finish(&array));
    return array;
}

template <class Builder>
std::shared_ptr<arrow::Array> textColumn(const Texts& texts)
{
    Builder builder;
    for (const auto& text : texts) {
        check(text ? builder.Append(*text) : builder.AppendNull());
    }
    return finished(builder);
}

std::shared_ptr<arrow::Array> textColumn(const Texts& texts, TextType type)
{
    switch (type) {
    case TextType::LargeString:
        return textColumn<arrow::LargeStringBuilder>(texts);
    case TextType::Dictionary:
        return textColumn<arrow::StringDictionaryBuilder>(texts);
    case TextType::String:
        break;
    }
    return textColumn<arrow::StringBuilder>(texts);
}

std::shared_ptr<arrow::Array> tagsColumn(std::size_t rows)
{
    const auto tags = std::make_shared<arrow::StringBuilder>();
    arrow::ListBuilder builder(arrow::default_memory_pool(), tags);
    for (std::size_t i = 0; i < rows; ++i) {
        check(builder.Append());
        check(tags->AppendValues({"one", "two"}));
    }
    return finished(builder);
}

std::shared_ptr<arrow::Array> originColumn(std::size_t rows)
{
    const auto title = std::make_shared<arrow::StringBuilder>();
    arrow::StructBuilder builder(arrow::struct_({arrow::field("title", arrow::utf8())}), arrow::default_memory_pool(),
                                 {title});
    for (std::size_t i = 0; i < rows; ++i) {
        if (i % 2 == 1) {
            check(builder.AppendNull());
            continue;
        }
        check(builder.Append());
        check(title->Append("title " + std::to_string(i)));
    }
    return finished(builder);
}

std::shared_ptr<arrow::Table> tableOf(const Texts& texts, TextType type)
{
    arrow::Int64Builder ids;
    arrow::BinaryBuilder blobs;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        check(ids.Append(static_cast<std::int64_t>(i)));
        check(blobs.Append("\xff\xfe"));
    }
    const std::vector<std::pair<std::string, std::shared_ptr<arrow::Array>>> columns{
        {"id", finished(ids)},
        {"text", textColumn(texts, type)},
        {"blob", finished(blobs)},
        {"tags", tagsColumn(texts.size())},
        {"origin", originColumn(texts.size())}};
    arrow::FieldVector fields;
    arrow::ArrayVector arrays;
    for (const auto& [name, array] : columns) {
        fields.push_back(arrow::field(name, array->type()));
        arrays.push_back(array);
    }
    return arrow::Table::Make(arrow::schema(fields), arrays);
}

std::shared_ptr<parquet::WriterProperties> propertiesOf(const ParquetWriting& writing)
{
    constexpr std::array kCodecs{arrow::Compression::UNCOMPRESSED, arrow::Compression::SNAPPY,
                                 arrow::Compression::GZIP,         arrow::Compression::ZSTD,
                                 arrow::Compression::LZ4,          arrow::Compression::BROTLI};
    parquet::WriterProperties::Builder properties;
    properties.compression(kCodecs[static_cast<std::size_t>(writing.packing)]);
    properties.enable_page_checksum();
    const arrow::util::SecureString key(std::string("0123456789abcdef"));
    parquet::FileEncryptionProperties::Builder encryption(key);
    if (writing.secrecy == Secrecy::Columns) {
        parquet::ColumnEncryptionProperties::Builder column;
        encryption.set_plaintext_footer()->encrypted_columns({{"text", column.key(key)->key_id("k")->build()}});
    }
    if (writing.secrecy != Secrecy::Open) {
        properties.encryption(encryption.build());
    }
    return properties.build();
}

} // namespace

std::string parquetOf(const std::vector<std::optional<std::string>>& texts, const ParquetWriting& writing)
{
    const auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
    const auto arrowProperties = parquet::ArrowWriterProperties::Builder().store_schema()->build();
    check(parquet::arrow::WriteTable(*tableOf(texts, writing.type), arrow::default_memory_pool(), sink,
                                     writing.rowsOfGroup, propertiesOf(writing), arrowProperties));
    return sink->Finish().ValueOrDie()->ToString();
}

} // namespace residua::tests
