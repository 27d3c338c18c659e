// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/files/safetensors.h"

#include "engine/files/crc32c.h"
#include "engine/files/safetensors_header.h"
#include "engine/files/safetensors_writer.h"
#include "projects/base/files.h"
#include "projects/base/whole_file.h"
#include "projects/file/store.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace residua::engine {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kAlignment = 8;

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
        header[kMetadataKey] = metadata;
    }
    std::uint64_t offset = 0;
    for (const Entry* entry : order) {
        const StoredTensor& tensor = entry->second;
        header[entry->first] = {{"dtype", nameOf(tensor.type)},
                                {"shape", tensor.shape},
                                {"data_offsets", {offset, offset + tensor.bytes.size()}}};
        offset += tensor.bytes.size();
    }
    std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
    text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
    const std::uint64_t length = text.size();
    std::string prefix(kSafetensorsPrefix, '\0');
    std::memcpy(prefix.data(), &length, kSafetensorsPrefix);
    return prefix + text;
}

Status checkSizes(const std::filesystem::path& path, const std::map<std::string, StoredTensor>& tensors)
{
    for (const auto& [name, tensor] : tensors) {
        const auto expected = byteCount(tensor.type, tensor.shape);
        if (!expected || *expected != tensor.bytes.size()) {
            return Error{path.string() + " · tensor " + name, std::to_string(tensor.bytes.size()) +
                                                                  " bytes given for " + nameOf(tensor.type) + " " +
                                                                  shapeText(tensor.shape)};
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
    auto header = readSafetensorsHeader(*input); // a file whose header does not account for it is not read
    if (!header) {
        return header.error();
    }
    SafetensorsFile file;
    file.m_size = input->size();
    file.m_bytes.reset(new (std::nothrow) std::byte[file.m_size]);
    if (!file.m_bytes) {
        return Error{path.string(), "there is no memory for its " + std::to_string(file.m_size) + " bytes"};
    }
    const std::span<std::byte> bytes(file.m_bytes.get(), file.m_size);
    if (auto status = input->read(0, bytes); !status) {
        return status.error();
    }
    for (auto& [name, place] : header->tensors) {
        file.m_tensors[name] = {place.type, std::move(place.shape), bytes.subspan(place.begin, place.bytes)};
    }
    file.m_metadata = std::move(header->metadata);
    return file;
}

} // namespace residua::engine
