// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/files/safetensors.h"
#include "projects/base/files.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace residua::engine {

/// A tensor's type and shape, without its bytes.
struct TensorForm {
    StoredType type = StoredType::F32;
    std::vector<std::int64_t> shape;
};

/// Writes a safetensors file directly at its path, one tensor after another, so that they need not be in memory
/// together. No reader may use the path before end(). One thread at a time.
class SafetensorsWriter {
public:
    /// Creates `path` and writes the header for these tensors.
    [[nodiscard]] static Result<SafetensorsWriter> begin(const std::filesystem::path& path,
                                                         const std::map<std::string, TensorForm>& tensors,
                                                         const std::map<std::string, std::string>& metadata);

    /// Returns the name of the tensor whose bytes come next, or nullptr after the last. Larger element types come
    /// first.
    [[nodiscard]] const std::string* next() const
    {
        return m_next == m_order.size() ? nullptr : &m_order[m_next].first;
    }
    /// Writes bytes of next(); the form of the tensor gives their number.
    [[nodiscard]] Status write(std::span<const std::byte> bytes);
    /// Flushes the file to the disk after the last tensor. Returns the CRC-32C of all its bytes.
    [[nodiscard]] Result<std::uint32_t> end();

private:
    using Order = std::vector<std::pair<std::string, TensorForm>>;
    SafetensorsWriter(OutputFile file, Order order) : m_file(std::move(file)), m_order(std::move(order)) {}
    [[nodiscard]] Status put(std::span<const std::byte> bytes);

    OutputFile m_file;
    Order m_order;
    std::size_t m_next = 0;
    std::uint32_t m_checksum = 0;
};

/// Returns the types and shapes of the tensors.
[[nodiscard]] std::map<std::string, TensorForm> formsOf(const std::map<std::string, StoredTensor>& tensors);

/// Writes a whole file directly at its path and flushes it to the disk. No reader may use the path before it returns.
[[nodiscard]] Status writeNewSafetensors(const std::filesystem::path& path,
                                         const std::map<std::string, StoredTensor>& tensors,
                                         const std::map<std::string, std::string>& metadata);

} // namespace residua::engine
