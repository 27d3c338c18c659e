// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/files/safetensors.h"
#include "projects/base/files.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// The bytes of the header's length at the start of the file.
inline constexpr std::size_t kSafetensorsPrefix = sizeof(std::uint64_t);
inline constexpr const char* kMetadataKey = "__metadata__";

/// Returns the name of an element type in a header: "BF16".
[[nodiscard]] const char* nameOf(StoredType type);
/// True if the type is used for weights (kWeightTypes in engine/base/api/export_format.h).
[[nodiscard]] bool isWeightType(StoredType type);
/// Returns the weight type with this name; nullopt if the name is unknown.
[[nodiscard]] std::optional<StoredType> weightTypeFrom(std::string_view name);
/// Returns the shape as text: "[2, 3]".
[[nodiscard]] std::string shapeText(std::span<const std::int64_t> shape);
/// Returns the size in bytes of a tensor of a known type; nullopt if a dimension is negative or the product is too
/// large for a file.
[[nodiscard]] std::optional<std::uint64_t> byteCount(StoredType type, const std::vector<std::int64_t>& shape);

/// A tensor of a file and the location of its bytes.
struct TensorPlace {
    StoredType type = StoredType::F32;
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0; ///< the offset of its bytes in the file
    std::uint64_t bytes = 0;
    std::string otherType = {}; ///< the header's type name if the type is StoredType::Other
};
/// Returns the element type as the header names it.
[[nodiscard]] std::string typeText(const TensorPlace& place);

/// The contents of a header. Every offset, shape and length has been checked: the tensors cover the rest of the file
/// once, without gaps.
struct SafetensorsHeader {
    std::map<std::string, TensorPlace> tensors;
    std::map<std::string, std::string> metadata;
    std::uint64_t dataBegin = 0;
};
/// Reads only the header. Errors name the tensor or the field.
[[nodiscard]] Result<SafetensorsHeader> readSafetensorsHeader(const InputFile& file);

} // namespace residua::engine
