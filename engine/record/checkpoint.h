// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace residua::engine {

enum class StoredType { F64, F32, Bf16, I64, U8 };

/// A tensor as bytes, little endian, row-major; `bytes` views memory that someone else keeps alive.
struct StoredTensor {
    StoredType type = StoredType::F32;
    std::vector<std::int64_t> shape;
    std::span<const std::byte> bytes;
};

/// A safetensors file: u64 header length, JSON header padded with spaces to 8, data without holes.
[[nodiscard]] Status writeSafetensors(const std::filesystem::path& path, const std::map<std::string, StoredTensor>& tensors,
                                      const std::map<std::string, std::string>& metadata);

/// A memory-mapped safetensors file. Every offset, shape and length is checked on open; a truncated or
/// corrupt file is an error that names the tensor or the field.
class SafetensorsFile {
public:
    [[nodiscard]] static Result<SafetensorsFile> open(const std::filesystem::path& path);
    SafetensorsFile(SafetensorsFile&&) noexcept;
    SafetensorsFile& operator=(SafetensorsFile&&) noexcept;
    ~SafetensorsFile();

    [[nodiscard]] const std::map<std::string, StoredTensor>& tensors() const { return m_tensors; }
    [[nodiscard]] const std::map<std::string, std::string>& metadata() const { return m_metadata; }

private:
    SafetensorsFile() = default;
    void* m_map = nullptr;
    std::size_t m_size = 0;
    std::map<std::string, StoredTensor> m_tensors;
    std::map<std::string, std::string> m_metadata;
};

/// What a checkpoint holds beside tensors; state.json, with a checksum of each tensor file, so that
/// a flipped bit is found before it trains.
struct CheckpointState {
    std::int64_t step = 0;
    std::int64_t units = 0;      ///< tokens or samples seen
    double seconds = 0;
    std::int64_t stage = 0;
    std::map<std::string, std::string> cursors; ///< data cursors and random states, each in its owner's text
};

/// Writes <run>/checkpoints/step-N as a whole: model.safetensors, optimiser.safetensors, state.json into a
/// temporary directory, fsync, rename. Then removes the oldest beyond `keep` (0: none).
[[nodiscard]] Status writeCheckpoint(const std::filesystem::path& runDirectory, const CheckpointState& state,
                                     const std::map<std::string, StoredTensor>& model,
                                     const std::map<std::string, StoredTensor>& optimiser, std::int64_t keep);

struct LoadedCheckpoint {
    CheckpointState state;
    SafetensorsFile model;
    SafetensorsFile optimiser;
};
/// That of `step`, verified; without a step the newest that is intact, with a line in `skipped` for each
/// newer one that is not.
[[nodiscard]] Result<LoadedCheckpoint> loadCheckpoint(const std::filesystem::path& runDirectory,
                                                      std::optional<std::int64_t> step, std::vector<std::string>* skipped);

} // namespace residua::engine
