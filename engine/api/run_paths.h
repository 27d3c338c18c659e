// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>

namespace residua::engine {

/// The file that marks a folder as a run.
inline constexpr const char* kRunFile = "run.json";
/// The prefix of a checkpoint folder's name; the step follows.
inline constexpr const char* kCheckpointPrefix = "step-";
/// Returns <run>/checkpoints/step-00000500. The folder may not exist.
[[nodiscard]] std::filesystem::path checkpointDirectory(const std::filesystem::path& runDirectory, std::int64_t step);

} // namespace residua::engine
