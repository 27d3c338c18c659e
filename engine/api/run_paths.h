// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>

namespace residua::engine {

/// What makes a folder a run.
inline constexpr const char* kRunFile = "run.json";
/// What the name of a checkpoint's folder begins with; its step follows.
inline constexpr const char* kCheckpointPrefix = "step-";
/// <run>/checkpoints/step-00000500, whether it is there or not.
[[nodiscard]] std::filesystem::path checkpointDirectory(const std::filesystem::path& runDirectory, std::int64_t step);

} // namespace residua::engine
