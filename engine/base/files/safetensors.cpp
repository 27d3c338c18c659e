// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/files/safetensors.h"

#include "engine/base/files/content_hash.h"
#include "engine/base/files/safetensors_header.h"
#include "engine/base/files/safetensors_writer.h"
#include "projects/base/files.h"
#include "projects/base/whole_file.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>
#include <optional>
#include <utility>

namespace residua::engine {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kAlignment = 8;

using Order = std::vector<std::pair<std::string, TensorForm>>;

Order inFileOrder(const std::map<std::string, TensorForm>& tensors)
{
    Order order(tensors.begin(), tensors.end());
    std::ranges::stable_sort(order, std::ranges::greater(),
                             [](const auto& named) { return bytesOf(named.second.type); });
    return order;
}

/// Returns the length prefix and the padded JSON.
Result<std::string> headerOf(const std::filesystem::path& path, const Order& order,
                             const std::map<std::string, std::string>& metadata)
{
    Json header = Json::object();
    if (!metadata.empty()) {
        header[kMetadataKey] = metadata;
    }
    std::uint64_t offset = 0;
    for (const auto& [name, form] : order) {
        const auto bytes = byteCount(form.type, form.shape);
        if (!bytes) {
            return Error{path.string() + " · tensor " + name, "has no size: " + shapeText(form.shape)};
        }
        header[name] = {
            {"dtype", nameOf(form.type)}, {"shape", form.shape}, {"data_offsets", {offset, offset + *bytes}}};
        offset += *bytes;
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

} // namespace

std::map<std::string, TensorForm> formsOf(const std::map<std::string, StoredTensor>& tensors)
{
    std::map<std::string, TensorForm> forms;
    for (const auto& [name, tensor] : tensors) {
        forms[name] = {tensor.type, tensor.shape};
    }
    return forms;
}

Result<SafetensorsWriter> SafetensorsWriter::begin(const std::filesystem::path& path,
                                                   const std::map<std::string, TensorForm>& tensors,
                                                   const std::map<std::string, std::string>& metadata)
{
    Order order = inFileOrder(tensors);
    const std::string header = RESIDUA_TRY(headerOf(path, order, metadata));
    auto file = RESIDUA_TRY(OutputFile::create(path));
    SafetensorsWriter writer(std::move(file), std::move(order));
    const Status begun = writer.put(asBytes(header));
    return begun ? Result<SafetensorsWriter>(std::move(writer)) : Result<SafetensorsWriter>(begun.error());
}

Status SafetensorsWriter::put(std::span<const std::byte> bytes)
{
    m_checksum = crc32c(bytes, m_checksum);
    return m_file.write(bytes);
}

Status SafetensorsWriter::write(std::span<const std::byte> bytes)
{
    const bool wanted = m_next < m_order.size();
    const auto expected =
        wanted ? byteCount(m_order[m_next].second.type, m_order[m_next].second.shape) : std::optional<std::uint64_t>();
    if (expected != bytes.size()) {
        return Error{m_file.path().string() + (wanted ? " · tensor " + m_order[m_next].first : std::string()),
                     std::to_string(bytes.size()) + " bytes given, expected " +
                         (wanted ? nameOf(m_order[m_next].second.type) + (" " + shapeText(m_order[m_next].second.shape))
                                 : "none")};
    }
    ++m_next;
    return put(bytes);
}

Result<std::uint32_t> SafetensorsWriter::end()
{
    if (next() != nullptr) {
        return Error{m_file.path().string() + " · tensor " + *next(), "is missing"};
    }
    const Status synced = m_file.sync();
    return synced ? Result<std::uint32_t>(m_checksum) : Result<std::uint32_t>(synced.error());
}

Status writeNewSafetensors(const std::filesystem::path& path, const std::map<std::string, StoredTensor>& tensors,
                           const std::map<std::string, std::string>& metadata)
{
    auto writer = RESIDUA_TRY(SafetensorsWriter::begin(path, formsOf(tensors), metadata));
    while (const std::string* const name = writer.next()) {
        RESIDUA_TRY(writer.write(tensors.at(*name).bytes));
    }
    const auto ended = writer.end();
    return ended ? Status(Done{}) : Status(ended.error());
}

Status writeSafetensors(const std::filesystem::path& path, const std::map<std::string, StoredTensor>& tensors,
                        const std::map<std::string, std::string>& metadata)
{
    RESIDUA_TRY(checkSizes(path, tensors));
    const Order order = inFileOrder(formsOf(tensors));
    std::string all = RESIDUA_TRY(headerOf(path, order, metadata));
    for (const auto& [name, form] : order) {
        const std::span<const std::byte> bytes = tensors.at(name).bytes;
        all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    return writeOutput(path, all);
}

Result<SafetensorsFile> SafetensorsFile::open(const std::filesystem::path& path)
{
    auto input = RESIDUA_TRY(InputFile::open(path));
    // Checks that the header accounts for the whole file before that is read.
    auto header = RESIDUA_TRY(readSafetensorsHeader(input));
    SafetensorsFile file;
    file.m_size = input.size();
    file.m_bytes.reset(new (std::nothrow) std::byte[file.m_size]);
    if (!file.m_bytes) {
        return Error{path.string(), "there is no memory for its " + std::to_string(file.m_size) + " bytes"};
    }
    const std::span<std::byte> bytes(file.m_bytes.get(), file.m_size);
    RESIDUA_TRY(input.read(0, bytes));
    for (auto& [name, place] : header.tensors) {
        file.m_tensors[name] = {place.type, std::move(place.shape), bytes.subspan(place.begin, place.bytes)};
    }
    file.m_metadata = std::move(header.metadata);
    return file;
}

} // namespace residua::engine
