// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace residua::engine {

/// Other: an element type that this program does not use; its tensors are never read.
enum class StoredType { F64, F32, F16, Bf16, I64, I32, U8, Bool, Other };
[[nodiscard]] std::int64_t bytesOf(StoredType type);

/// A tensor as bytes, little endian, row-major. `bytes` does not own the memory.
struct StoredTensor {
    StoredType type = StoredType::F32;
    std::vector<std::int64_t> shape;
    std::span<const std::byte> bytes;
};

/// Writes a safetensors file: u64 header length, JSON header padded with spaces to a multiple of 8, data without gaps.
/// Larger element types come first, so that every tensor is aligned. The file is written by writeOutput. Holds a second
/// copy of the data in memory; SafetensorsWriter avoids that for large files.
[[nodiscard]] Status writeSafetensors(const std::filesystem::path& path,
                                      const std::map<std::string, StoredTensor>& tensors,
                                      const std::map<std::string, std::string>& metadata);

/// A safetensors file in memory. Every offset, shape and length is checked before the data are read. A file that is
/// truncated, corrupt or changed while it is read is an error that names the tensor or the field.
class SafetensorsFile {
public:
    [[nodiscard]] static Result<SafetensorsFile> open(const std::filesystem::path& path);
    [[nodiscard]] const std::map<std::string, StoredTensor>& tensors() const { return m_tensors; }
    [[nodiscard]] const std::map<std::string, std::string>& metadata() const { return m_metadata; }
    /// Returns the bytes of the whole file.
    [[nodiscard]] std::span<const std::byte> bytes() const { return {m_bytes.get(), m_size}; }

private:
    SafetensorsFile() = default;

    std::unique_ptr<std::byte[]> m_bytes;
    std::size_t m_size = 0;
    std::map<std::string, StoredTensor> m_tensors;
    std::map<std::string, std::string> m_metadata;
};

} // namespace residua::engine
