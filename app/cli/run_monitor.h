// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/console.h"
#include "engine/api/session.h"

#include <vector>

namespace residua::cli {

/// A run as its events told it.
struct RunOutcome {
    engine::RunStarted started;
    engine::RunEnded ended;
    std::vector<engine::StepRecord> steps; ///< those of this process
    double validationLoss = 0;             ///< the last; NaN before the first
    std::int64_t peakBytes = 0;
    std::int64_t checkpointStep = -1;
    bool interrupted = false;
};

enum class Show { Progress, Nothing };

/// Starts or resumes a run and follows it to its end. The first Ctrl-C stops it after a checkpoint, the second quits at
/// once.
[[nodiscard]] RunOutcome follow(const engine::Command& command, engine::RunId run, bool language,
                                const Console& console, Show show);

} // namespace residua::cli
