// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"
#include "engine/runs/results/run_reader.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace residua::engine {

/// The change of the loss at the beginning of a stage, and the cost of the stage's steps so far.
struct StageTransition {
    std::int64_t step = 0; ///< the last step before the stage
    std::string name;
    std::string note; ///< StageRecord::note
    /// the training loss that the run measured; if it measured none, the mean of the last steps before
    double before = kNoLoss;
    double after = kNoLoss; ///< likewise, with the first steps after
    double validationBefore = kNoLoss;
    double validationAfter = kNoLoss;
    std::int64_t steps = 0;          ///< done in the stage
    double secondsPerStep = kNoLoss; ///< NaN if no time was recorded
    double shareOfFlop = kNoLoss;    ///< of that of all steps; NaN if unknown
    double shareOfTime = kNoLoss;    ///< of that of all steps; NaN if unknown
    [[nodiscard]] double jump() const { return after - before; }
};

/// Returns the stages in ascending order of steps, at most the last 1,000, without losses. A stage that a resumed run
/// began again occurs once, at its last beginning.
[[nodiscard]] std::vector<StageRecord> stageStarts(const std::vector<RunEvent>& events);
/// Returns the stages with the losses that the run measured.
[[nodiscard]] std::vector<StageRecord> stageRecords(const RunReader& run);
/// Returns the transition into every stage from the training loss of each step. `steps` are ascending, `losses` have
/// the same length. `seconds` of training and `flops` (any unit) are cumulative and have the same length, or are empty.
[[nodiscard]] std::vector<StageTransition>
stageTransitions(const std::vector<StageRecord>& stages, std::span<const double> steps, std::span<const double> losses,
                 std::span<const double> seconds = {}, std::span<const double> flops = {});

} // namespace residua::engine
