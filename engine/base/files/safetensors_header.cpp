// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/files/safetensors_header.h"

#include "engine/base/api/export_format.h"
#include "engine/base/files/content_hash.h"
#include "projects/base/json_tree.h"
#include "projects/base/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

namespace residua::engine {
namespace {

using HeaderJson = nlohmann::json; // std::map-based: finds a name among a million quickly

// A longer header is damaged: no network has so many tensors.
constexpr std::uint64_t kLongestHeader = 100'000'000;
constexpr int kDeepestHeader = 8;

struct TypeName {
    StoredType type;
    const char* name;
    std::int64_t bytes;
};
constexpr std::array kTypes{TypeName{StoredType::F64, "F64", 8},
                            TypeName{StoredType::F32, "F32", 4},
                            TypeName{StoredType::F16, "F16", 2},
                            TypeName{StoredType::Bf16, "BF16", 2},
                            TypeName{StoredType::I64, "I64", 8},
                            TypeName{StoredType::I32, "I32", 4},
                            TypeName{StoredType::U8, "U8", 1},
                            TypeName{StoredType::Bool, "BOOL", 1},
                            TypeName{StoredType::Other, "another type", 1}};

const TypeName& entryOf(StoredType type)
{
    return *std::find_if(kTypes.begin(), kTypes.end(), [type](const TypeName& entry) { return entry.type == type; });
}

/// Reads one entry of a header. `size` bytes of data follow the header, from byte `begin` of the file.
class TensorReader {
public:
    TensorReader(const std::filesystem::path& path, std::uint64_t begin, std::uint64_t size)
        : m_path(path), m_begin(begin), m_size(size)
    {
    }

    Result<TensorPlace> read(const std::string& name, const HeaderJson& value)
    {
        if (!value.is_object()) {
            return fail(name, "expected an object, got " + std::string(value.type_name()));
        }
        TensorPlace tensor;
        RESIDUA_TRY(readType(name, value, tensor));
        RESIDUA_TRY(readShape(name, value, tensor));
        RESIDUA_TRY(readBytes(name, value, tensor));
        return tensor;
    }

    /// Checks that the tensors cover the data once, without gaps.
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
        if (at != m_size) {
            return Error{m_path.string(),
                         "the tensors take " + std::to_string(at) + " bytes, the file holds " + std::to_string(m_size)};
        }
        return Done{};
    }

private:
    Error fail(const std::string& name, const std::string& message) const
    {
        return {m_path.string() + " · tensor " + name, message};
    }

    Status readType(const std::string& name, const HeaderJson& value, TensorPlace& tensor) const
    {
        const auto at = value.find("dtype");
        if (at == value.end() || !at->is_string()) {
            return fail(name, "dtype is missing, expected the name of a type");
        }
        const std::string text = at->get<std::string>();
        const auto* const known = std::ranges::find(kTypes, text, &TypeName::name);
        tensor.type = known != kTypes.end() ? known->type : StoredType::Other;
        tensor.otherType = tensor.type == StoredType::Other ? text : std::string();
        return Done{};
    }

    Status readShape(const std::string& name, const HeaderJson& value, TensorPlace& tensor) const
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

    Status readBytes(const std::string& name, const HeaderJson& value, TensorPlace& tensor)
    {
        const auto at = value.find("data_offsets");
        if (at == value.end() || !at->is_array() || at->size() != 2 || !(*at)[0].is_number_unsigned() ||
            !(*at)[1].is_number_unsigned()) {
            return fail(name, "data_offsets are missing, expected two offsets");
        }
        const auto begin = (*at)[0].get<std::uint64_t>();
        const auto end = (*at)[1].get<std::uint64_t>();
        if (begin > end || end > m_size) {
            return fail(name, "its data lie at " + std::to_string(begin) + ".." + std::to_string(end) +
                                  ", the file holds " + std::to_string(m_size) + " bytes of data (truncated?)");
        }
        const auto expected = byteCount(tensor.type, tensor.shape);
        if (tensor.type != StoredType::Other && (!expected || *expected != end - begin)) {
            return fail(name, std::to_string(end - begin) + " bytes do not hold " + nameOf(tensor.type) + " " +
                                  shapeText(tensor.shape));
        }
        tensor.begin = m_begin + begin;
        tensor.bytes = end - begin;
        m_ranges.emplace_back(begin, end, name);
        return Done{};
    }

    const std::filesystem::path& m_path;
    std::uint64_t m_begin;
    std::uint64_t m_size;
    std::vector<std::tuple<std::uint64_t, std::uint64_t, std::string>> m_ranges;
};

/// Returns the length of the JSON after the prefix.
Result<std::uint64_t> headerLength(const InputFile& file)
{
    const std::string place = file.path().string();
    if (file.size() < kSafetensorsPrefix) {
        return Error{place, "is " + std::to_string(file.size()) + " bytes long, too short for safetensors"};
    }
    std::uint64_t length = 0;
    RESIDUA_TRY(file.read(0, std::as_writable_bytes(std::span(&length, 1))));
    if (length > kLongestHeader || length > file.size() - kSafetensorsPrefix) {
        RESIDUA_TRY(refuseLfsPointer(file, "the safetensors file"));
        return Error{place, "its header claims " + std::to_string(length) + " bytes, the file holds " +
                                std::to_string(file.size() - kSafetensorsPrefix) + " (truncated or not safetensors)"};
    }
    return length;
}

Result<HeaderJson> parseHeader(const std::filesystem::path& path, std::span<const std::byte> header)
{
    const std::string_view text(reinterpret_cast<const char*>(header.data()), header.size());
    if (const auto deep = tooDeep(text, kDeepestHeader)) {
        return Error{path.string(), "its header " + deep->message};
    }
    HeaderJson json = HeaderJson::parse(text.begin(), text.end(), nullptr, false);
    if (!json.is_object()) {
        return Error{path.string(), "its header is not a JSON object"};
    }
    return json;
}

Result<std::map<std::string, std::string>> readMetadata(const std::filesystem::path& path, const HeaderJson& value)
{
    const std::string place = path.string() + " · " + kMetadataKey;
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

} // namespace

std::int64_t bytesOf(StoredType type)
{
    return entryOf(type).bytes;
}

const char* nameOf(StoredType type)
{
    return entryOf(type).name;
}

std::string typeText(const TensorPlace& place)
{
    return place.type == StoredType::Other ? place.otherType : nameOf(place.type);
}

bool isWeightType(StoredType type)
{
    return std::ranges::find(kWeightTypes, std::string_view(nameOf(type))) != std::end(kWeightTypes);
}

std::optional<StoredType> weightTypeFrom(std::string_view name)
{
    const auto* const found = std::ranges::find_if(
        kTypes, [name](const TypeName& entry) { return entry.name == name && isWeightType(entry.type); });
    return found == kTypes.end() ? std::nullopt : std::optional(found->type);
}

std::string shapeText(std::span<const std::int64_t> shape)
{
    return "[" + joinedText(shape, ", ", [](std::int64_t size) { return std::to_string(size); }) + "]";
}

std::optional<std::uint64_t> byteCount(StoredType type, const std::vector<std::int64_t>& shape)
{
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    auto count = static_cast<std::uint64_t>(bytesOf(type));
    bool none = false;
    for (const std::int64_t size : shape) {
        if (size < 0) {
            return std::nullopt;
        }
        none = none || size == 0;
        // A tensor without elements still has strides, which are products of its sizes too.
        const auto factor = static_cast<std::uint64_t>(std::max<std::int64_t>(size, 1));
        if (count > kMost / factor) {
            return std::nullopt;
        }
        count *= factor;
    }
    return none ? 0 : count;
}

Result<SafetensorsHeader> readSafetensorsHeader(const InputFile& file)
{
    const auto length = RESIDUA_TRY(headerLength(file));
    std::string text(length, '\0');
    RESIDUA_TRY(file.read(kSafetensorsPrefix, std::as_writable_bytes(std::span(text))));
    const auto json = RESIDUA_TRY(parseHeader(file.path(), asBytes(text)));
    SafetensorsHeader header;
    header.dataBegin = kSafetensorsPrefix + length;
    TensorReader reader(file.path(), header.dataBegin, file.size() - header.dataBegin);
    for (const auto& [name, value] : json.items()) {
        if (name == kMetadataKey) {
            header.metadata = RESIDUA_TRY(readMetadata(file.path(), value));
            continue;
        }
        header.tensors[name] = RESIDUA_TRY(reader.read(name, value));
    }
    const Status covered = reader.checkCover();
    return covered ? Result<SafetensorsHeader>(std::move(header)) : Result<SafetensorsHeader>(covered.error());
}

} // namespace residua::engine
