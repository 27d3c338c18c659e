// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/session.h"
#include "engine/runs/checkpoint.h"

#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// What to go on from. Nothing for a run that was cut off before its first checkpoint: it begins again, but for one
/// whose first weights would be others, which is refused. `notes` tells of checkpoints that were passed over.
[[nodiscard]] Result<std::optional<CheckpointFiles>> checkpointToResume(const ResumeRun& command, const RunInfo& info,
                                                                        std::vector<std::string>& notes);

} // namespace residua::engine
