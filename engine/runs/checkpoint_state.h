// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/runs/checkpoint.h"
#include "projects/base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace residua::engine {

// The files in a checkpoint's folder.
inline constexpr const char* kStateFile = "state.json";
inline constexpr const char* kModelTensors = "model.safetensors";
inline constexpr const char* kOptimiserTensors = "optimiser.safetensors";

/// Returns a CRC-32C as in state.json: eight hexadecimal digits.
[[nodiscard]] std::string checksumText(std::uint32_t checksum);

/// Returns the text of state.json with its own checksum and those of the tensor files. `run` is the identity of the
/// run, or empty.
[[nodiscard]] std::string stateText(const CheckpointState& state, const std::string& run, std::uint32_t model,
                                    std::uint32_t optimiser);

struct StateFile {
    CheckpointState state;
    std::string run; ///< the identity of its run; empty if an earlier version wrote it
    std::string modelChecksum;
    std::string optimiserChecksum;
};
/// Reads the state in a checkpoint's folder. The folder's name must have the same step.
[[nodiscard]] Result<StateFile> readState(const std::filesystem::path& directory, std::int64_t step);

} // namespace residua::engine
