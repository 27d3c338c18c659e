// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/files/safetensors.h"
#include "projects/base/files.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

inline constexpr std::size_t kSafetensorsPrefix = sizeof(std::uint64_t); ///< bytes of the header's length, before it
inline constexpr const char* kMetadataKey = "__metadata__";

/// The name of an element type in a header: "BF16".
[[nodiscard]] const char* nameOf(StoredType type);
/// Whether weights are kept in it (kWeightTypes in engine/api/export_format.h).
[[nodiscard]] bool isWeightType(StoredType type);
/// The one of them with this name.
[[nodiscard]] std::optional<StoredType> weightTypeFrom(std::string_view name);
/// "[2, 3]".
[[nodiscard]] std::string shapeText(std::span<const std::int64_t> shape);
/// Bytes that a tensor of a known type takes; nothing where a size is negative or the product too large for any file.
[[nodiscard]] std::optional<std::uint64_t> byteCount(StoredType type, const std::vector<std::int64_t>& shape);

/// A tensor of a file, and where in it its bytes are.
struct TensorPlace {
    StoredType type = StoredType::F32;
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0; ///< of its bytes in the file
    std::uint64_t bytes = 0;
    std::string otherType = {}; ///< the header's word for StoredType::Other
};
/// The element type as the header names it.
[[nodiscard]] std::string typeText(const TensorPlace& place);

/// What a file says of itself before its data. Every offset, shape and length has been checked: the tensors cover the
/// rest of the file once, without holes.
struct SafetensorsHeader {
    std::map<std::string, TensorPlace> tensors;
    std::map<std::string, std::string> metadata;
    std::uint64_t dataBegin = 0;
};
/// Reads the header alone. Errors name the tensor or the field.
[[nodiscard]] Result<SafetensorsHeader> readSafetensorsHeader(const InputFile& file);

} // namespace residua::engine
