// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/files/safetensors.h"

#include "engine/files/crc32c.h"
#include "engine/files/json_record.h"
#include "engine/files/safetensors_writer.h"
#include "projects/base/files.h"
#include "projects/base/whole_file.h"
#include "projects/file/store.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

namespace residua::engine {
namespace {

using Json = nlohmann::ordered_json;
using HeaderJson = nlohmann::json; // finds a name among a million others

// A longer header is damage: no network has so many tensors.
constexpr std::uint64_t kLongestHeader = 100'000'000;
constexpr int kDeepestHeader = 8;
constexpr std::size_t kPrefix = sizeof(std::uint64_t);
constexpr std::size_t kAlignment = 8;
constexpr const char* kMetadata = "__metadata__";

struct TypeName {
    StoredType type;
    const char* name;
    std::int64_t bytes;
};
constexpr std::array kTypes{TypeName{StoredType::F64, "F64", 8}, TypeName{StoredType::F32, "F32", 4},
                            TypeName{StoredType::Bf16, "BF16", 2}, TypeName{StoredType::I64, "I64", 8},
                            TypeName{StoredType::U8, "U8", 1}};

const TypeName& entryOf(StoredType type)
{
    return *std::find_if(kTypes.begin(), kTypes.end(), [type](const TypeName& entry) { return entry.type == type; });
}

std::string shapeText(const std::vector<std::int64_t>& shape)
{
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i) {
        text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    }
    return text + "]";
}

/// Bytes that a tensor takes; nothing where a size is negative or the product too large for any file.
std::optional<std::uint64_t> byteCount(StoredType type, const std::vector<std::int64_t>& shape)
{
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    auto count = static_cast<std::uint64_t>(bytesOf(type));
    for (const std::int64_t size : shape) {
        if (size < 0) {
            return std::nullopt;
        }
        if (size == 0) {
            return 0;
        }
        if (count > kMost / static_cast<std::uint64_t>(size)) {
            return std::nullopt;
        }
        count *= static_cast<std::uint64_t>(size);
    }
    return count;
}

using Entry = std::pair<const std::string, StoredTensor>;

std::vector<const Entry*> inFileOrder(const std::map<std::string, StoredTensor>& tensors)
{
    std::vector<const Entry*> order;
    order.reserve(tensors.size());
    for (const Entry& entry : tensors) {
        order.push_back(&entry);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const Entry* a, const Entry* b) { return bytesOf(a->second.type) > bytesOf(b->second.type); });
    return order;
}

/// Length prefix and padded JSON.
std::string headerOf(const std::vector<const Entry*>& order, const std::map<std::string, std::string>& metadata)
{
    Json header = Json::object();
    if (!metadata.empty()) {
        header[kMetadata] = metadata;
    }
    std::uint64_t offset = 0;
    for (const Entry* entry : order) {
        const StoredTensor& tensor = entry->second;
        header[entry->first] = {{"dtype", entryOf(tensor.type).name},
                                {"shape", tensor.shape},
                                {"data_offsets", {offset, offset + tensor.bytes.size()}}};
        offset += tensor.bytes.size();
    }
    std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
    text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
    const std::uint64_t length = text.size();
    std::string prefix(kPrefix, '\0');
    std::memcpy(prefix.data(), &length, kPrefix);
    return prefix + text;
}

/// Reads one entry of a header; `data` are the bytes after it.
class TensorReader {
public:
    TensorReader(const std::filesystem::path& path, std::span<const std::byte> data) : m_path(path), m_data(data) {}

    Result<StoredTensor> read(const std::string& name, const HeaderJson& value)
    {
        if (!value.is_object()) {
            return fail(name, "expected an object, got " + std::string(value.type_name()));
        }
        StoredTensor tensor;
        if (auto status = readType(name, value, tensor); !status) {
            return status.error();
        }
        if (auto status = readShape(name, value, tensor); !status) {
            return status.error();
        }
        if (auto status = readBytes(name, value, tensor); !status) {
            return status.error();
        }
        return tensor;
    }

    /// Tensors must cover the data once, without holes.
    Status checkCover()
    {
        std::sort(m_ranges.begin(), m_ranges.end());
        std::uint64_t at = 0;
        for (const auto& [begin, end, name] : m_ranges) {
            if (begin != at) {
                return fail(name,
                            "its data begin at byte " + std::to_string(begin) + ", expected " + std::to_string(at));
            }
            at = end;
        }
        if (at != m_data.size()) {
            return Error{m_path.string(), "the tensors take " + std::to_string(at) + " bytes, the file holds " +
                                              std::to_string(m_data.size())};
        }
        return Done{};
    }

private:
    Error fail(const std::string& name, const std::string& message) const
    {
        return {m_path.string() + " · tensor " + name, message};
    }

    Status readType(const std::string& name, const HeaderJson& value, StoredTensor& tensor) const
    {
        const auto at = value.find("dtype");
        const std::string text = at != value.end() && at->is_string() ? at->get<std::string>() : "nothing";
        for (const TypeName& entry : kTypes) {
            if (text == entry.name) {
                tensor.type = entry.type;
                return Done{};
            }
        }
        return fail(name, "dtype is " + text + ", expected F64, F32, BF16, I64 or U8");
    }

    Status readShape(const std::string& name, const HeaderJson& value, StoredTensor& tensor) const
    {
        const auto at = value.find("shape");
        if (at == value.end() || !at->is_array()) {
            return fail(name, "shape is missing, expected an array of sizes");
        }
        for (const HeaderJson& size : *at) {
            if (!size.is_number_unsigned()) {
                return fail(name, "shape holds " + (size.is_primitive() ? size.dump() : std::string("a list")) +
                                      ", expected a size");
            }
            tensor.shape.push_back(size.get<std::int64_t>());
        }
        return Done{};
    }

    Status readBytes(const std::string& name, const HeaderJson& value, StoredTensor& tensor)
    {
        const auto at = value.find("data_offsets");
        if (at == value.end() || !at->is_array() || at->size() != 2 || !(*at)[0].is_number_unsigned() ||
            !(*at)[1].is_number_unsigned()) {
            return fail(name, "data_offsets are missing, expected two offsets");
        }
        const auto begin = (*at)[0].get<std::uint64_t>();
        const auto end = (*at)[1].get<std::uint64_t>();
        if (begin > end || end > m_data.size()) {
            return fail(name, "its data lie at " + std::to_string(begin) + ".." + std::to_string(end) +
                                  ", the file holds " + std::to_string(m_data.size()) + " bytes of data (truncated?)");
        }
        const auto expected = byteCount(tensor.type, tensor.shape);
        if (!expected || *expected != end - begin) {
            return fail(name, std::to_string(end - begin) + " bytes do not hold " + entryOf(tensor.type).name + " " +
                                  shapeText(tensor.shape));
        }
        tensor.bytes = m_data.subspan(begin, end - begin);
        m_ranges.emplace_back(begin, end, name);
        return Done{};
    }

    const std::filesystem::path& m_path;
    std::span<const std::byte> m_data;
    std::vector<std::tuple<std::uint64_t, std::uint64_t, std::string>> m_ranges;
};

/// Length of the JSON after the prefix.
Result<std::uint64_t> headerLength(const InputFile& file)
{
    const std::string place = file.path().string();
    if (file.size() < kPrefix) {
        return Error{place, "is " + std::to_string(file.size()) + " bytes long, too short for safetensors"};
    }
    std::uint64_t length = 0;
    if (auto status = file.read(0, std::as_writable_bytes(std::span(&length, 1))); !status) {
        return status.error();
    }
    if (length > kLongestHeader || length > file.size() - kPrefix) {
        return Error{place, "its header claims " + std::to_string(length) + " bytes, the file holds " +
                                std::to_string(file.size() - kPrefix) + " (truncated or not safetensors)"};
    }
    return length;
}

Result<HeaderJson> parseHeader(const std::filesystem::path& path, std::span<const std::byte> header)
{
    const std::string_view text(reinterpret_cast<const char*>(header.data()), header.size());
    if (nestsDeeperThan(text, kDeepestHeader)) {
        return Error{path.string(), "its header is nested deeper than " + std::to_string(kDeepestHeader) + " levels"};
    }
    HeaderJson json = HeaderJson::parse(text.begin(), text.end(), nullptr, false);
    if (!json.is_object()) {
        return Error{path.string(), "its header is not a JSON object"};
    }
    return json;
}

Result<std::map<std::string, std::string>> readMetadata(const std::filesystem::path& path, const HeaderJson& value)
{
    const std::string place = path.string() + " · " + kMetadata;
    if (!value.is_object()) {
        return Error{place, "expected an object, got " + std::string(value.type_name())};
    }
    std::map<std::string, std::string> metadata;
    for (const auto& [key, text] : value.items()) {
        if (!text.is_string()) {
            return Error{place, key + " is " + text.type_name() + ", expected a string"};
        }
        metadata[key] = text.get<std::string>();
    }
    return metadata;
}

Status checkSizes(const std::filesystem::path& path, const std::map<std::string, StoredTensor>& tensors)
{
    for (const auto& [name, tensor] : tensors) {
        const auto expected = byteCount(tensor.type, tensor.shape);
        if (!expected || *expected != tensor.bytes.size()) {
            return Error{path.string() + " · tensor " + name, std::to_string(tensor.bytes.size()) +
                                                                  " bytes given for " + entryOf(tensor.type).name +
                                                                  " " + shapeText(tensor.shape)};
        }
    }
    return Done{};
}

/// All bytes of a file, as they stand in it.
template <class Put>
Status giveInOrder(const std::map<std::string, StoredTensor>& tensors,
                   const std::map<std::string, std::string>& metadata, const Put& put)
{
    const auto order = inFileOrder(tensors);
    if (Status status = put(asBytes(headerOf(order, metadata))); !status) {
        return status;
    }
    for (const Entry* entry : order) {
        if (Status status = put(entry->second.bytes); !status) {
            return status;
        }
    }
    return Done{};
}

} // namespace

std::int64_t bytesOf(StoredType type)
{
    return entryOf(type).bytes;
}

Result<std::uint32_t> writeNewSafetensors(const std::filesystem::path& path,
                                          const std::map<std::string, StoredTensor>& tensors,
                                          const std::map<std::string, std::string>& metadata)
{
    if (auto status = checkSizes(path, tensors); !status) {
        return status.error();
    }
    auto file = OutputFile::create(path);
    if (!file) {
        return file.error();
    }
    std::uint32_t checksum = 0;
    const auto put = [&](std::span<const std::byte> bytes) {
        checksum = crc32c(bytes, checksum);
        return file->write(bytes);
    };
    if (auto status = giveInOrder(tensors, metadata, put); !status) {
        return status.error();
    }
    if (auto status = file->sync(); !status) {
        return status.error();
    }
    return checksum;
}

Status writeSafetensors(const std::filesystem::path& path, const std::map<std::string, StoredTensor>& tensors,
                        const std::map<std::string, std::string>& metadata)
{
    if (auto status = checkSizes(path, tensors); !status) {
        return status;
    }
    std::string all;
    const auto put = [&all](std::span<const std::byte> bytes) {
        all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return Status(Done{});
    };
    if (auto status = giveInOrder(tensors, metadata, put); !status) {
        return status;
    }
    return writeOutput(path, all);
}

Result<SafetensorsFile> SafetensorsFile::open(const std::filesystem::path& path)
{
    auto input = InputFile::open(path);
    if (!input) {
        return input.error();
    }
    const auto length = headerLength(*input);
    if (!length) {
        return length.error();
    }
    SafetensorsFile file;
    file.m_size = input->size();
    file.m_bytes.reset(new (std::nothrow) std::byte[file.m_size]);
    if (!file.m_bytes) {
        return Error{path.string(), "there is no memory for its " + std::to_string(file.m_size) + " bytes"};
    }
    const std::size_t dataBegin = kPrefix + *length;
    const std::span<std::byte> bytes(file.m_bytes.get(), file.m_size);
    if (auto status = input->read(0, bytes.first(dataBegin)); !status) {
        return status.error();
    }
    // Memory that nothing is read to costs nothing: a file whose header does not account for it is not read.
    if (auto status = file.readHeader(path, bytes.subspan(kPrefix, *length), bytes.subspan(dataBegin)); !status) {
        return status.error();
    }
    if (auto status = input->read(dataBegin, bytes.subspan(dataBegin)); !status) {
        return status.error();
    }
    return file;
}

Status SafetensorsFile::readHeader(const std::filesystem::path& path, std::span<const std::byte> text,
                                   std::span<const std::byte> data)
{
    const auto header = parseHeader(path, text);
    if (!header) {
        return header.error();
    }
    TensorReader reader(path, data);
    for (const auto& [name, value] : header->items()) {
        if (name == kMetadata) {
            auto metadata = readMetadata(path, value);
            if (!metadata) {
                return metadata.error();
            }
            m_metadata = std::move(*metadata);
            continue;
        }
        auto tensor = reader.read(name, value);
        if (!tensor) {
            return tensor.error();
        }
        m_tensors[name] = std::move(*tensor);
    }
    return reader.checkCover();
}

} // namespace residua::engine
