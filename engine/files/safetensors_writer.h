// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/files/safetensors.h"
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

/// A tensor that a file is to hold, without its bytes.
struct TensorForm {
    StoredType type = StoredType::F32;
    std::vector<std::int64_t> shape;
};

/// Writes a safetensors file in place, one tensor after another, so that they need not be in memory together. For a
/// path that nobody reads yet. Any one thread.
class SafetensorsWriter {
public:
    /// Creates `path` with the header of these tensors.
    [[nodiscard]] static Result<SafetensorsWriter> begin(const std::filesystem::path& path,
                                                         const std::map<std::string, TensorForm>& tensors,
                                                         const std::map<std::string, std::string>& metadata);

    /// Whose bytes come next; nullptr after the last. Larger element types come first.
    [[nodiscard]] const std::string* next() const
    {
        return m_next == m_order.size() ? nullptr : &m_order[m_next].first;
    }
    /// The bytes of next(), as many as its form says.
    [[nodiscard]] Status write(std::span<const std::byte> bytes);
    /// After the last one: brings the file to the disk. The value is the CRC-32C of all its bytes.
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

/// What these tensors are without their bytes.
[[nodiscard]] std::map<std::string, TensorForm> formsOf(const std::map<std::string, StoredTensor>& tensors);

/// All of the file, in place and brought to the disk. For a path that nobody reads yet.
[[nodiscard]] Status writeNewSafetensors(const std::filesystem::path& path,
                                         const std::map<std::string, StoredTensor>& tensors,
                                         const std::map<std::string, std::string>& metadata);

} // namespace residua::engine
