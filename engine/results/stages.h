// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "engine/results/run_reader.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// What the loss did where a stage began, and what its steps have taken since.
struct StageTransition {
    std::int64_t step = 0; ///< the last step before it
    std::string name;
    std::string note;        ///< StageRecord::note
    double before = kNoLoss; ///< training loss as the run took it there; of runs that took none the mean of the last
                             ///< steps before
    double after = kNoLoss;  ///< and of the first steps after
    double validationBefore = kNoLoss;
    double validationAfter = kNoLoss;
    std::int64_t steps = 0;          ///< done in it
    double secondsPerStep = kNoLoss; ///< NaN where no time was recorded
    double shareOfFlop = kNoLoss;    ///< of that of all steps; NaN where it is not known
    double shareOfTime = kNoLoss;    ///< likewise
    [[nodiscard]] double jump() const { return after - before; }
};

/// The text of the event that a stage begins: its name and, after a semicolon, its note.
[[nodiscard]] std::string stageText(const StageRecord& stage);
/// The name and the note of the stage of which stageText() gives `text`; step and losses are not in it.
[[nodiscard]] StageRecord stageFrom(std::string_view text);
/// Ascending by step, the last 1,000, without losses. A stage that a resumed run begins again counts once, as begun
/// last.
[[nodiscard]] std::vector<StageRecord> stageStarts(const std::vector<RunEvent>& events);
/// The same with the losses that the run took.
[[nodiscard]] std::vector<StageRecord> stageRecords(const RunReader& run);
/// The transition into every stage, by the training loss of each step: `steps` ascending, `losses` as long; `seconds`
/// of training and `flops`, in any unit, so far are as long too, or empty.
[[nodiscard]] std::vector<StageTransition>
stageTransitions(const std::vector<StageRecord>& stages, std::span<const double> steps, std::span<const double> losses,
                 std::span<const double> seconds = {}, std::span<const double> flops = {});

} // namespace residua::engine
