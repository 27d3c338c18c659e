// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/session.h"
#include "engine/runs/store/checkpoint.h"

#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// Returns the checkpoint to resume from; nullopt for a run that was interrupted before its first checkpoint, which
/// then starts again. Refuses to start again if its first weights came from elsewhere. Adds skipped checkpoints to
/// `notes`.
[[nodiscard]] Result<std::optional<CheckpointFiles>> checkpointToResume(const ResumeRun& command, const RunInfo& info,
                                                                        std::vector<std::string>& notes);

} // namespace residua::engine
