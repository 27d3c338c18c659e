// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/project.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// Arithmetic of progressive subnetworks (RaPTr §2, §4.3): the lengths of stages and edits of them. kept_parts.h has
/// the layers that a step keeps. Pure functions.

/// Returns the probability that a layer outside the always-kept set I_s is kept: p_s = (ℓ − |I_s|)/(L − |I_s|), in [0,
/// 1].
[[nodiscard]] double keepProbability(const Stage& stage, std::int64_t depth);
/// True if every step trains every layer, head and part.
[[nodiscard]] bool trainsAll(const StageSchedule& schedule);

/// A range of steps in which the same layers may train.
struct StageSpan {
    static constexpr std::size_t kFull = SIZE_MAX;
    static constexpr std::size_t kCurve = SIZE_MAX - 1;
    std::int64_t from = 0; ///< steps [from, to)
    std::int64_t to = 0;
    std::size_t stage = kFull; ///< index of its stage; kFull: every layer trains; kCurve: given by the curve
    double averageLength = 0;
    [[nodiscard]] bool isStage() const { return stage < kCurve; }
    bool operator==(const StageSpan&) const = default;
};
/// Returns the spans over all of `steps`, ascending and without gaps: the full model before the first stage and for
/// fullModelSteps, then each stage from its start. Stages that begin at or after `steps` have no span. A curve is
/// divided into equal spans, each with its mean.
[[nodiscard]] std::vector<StageSpan> spansOf(const StageSchedule& schedule, std::int64_t depth, std::int64_t steps);
/// Returns the span of step `step` (from 1), or the last span for a step past the end. Precondition: `spans` is not
/// empty.
[[nodiscard]] const StageSpan& spanAt(const std::vector<StageSpan>& spans, std::int64_t step);

/// Returns the mean of the average lengths over the steps, in layers.
[[nodiscard]] double averageLength(const StageSchedule& schedule, std::int64_t depth, std::int64_t steps);

/// The division of the steps among stages.
enum class StageSplit {
    Equal,         ///< the same number of steps each
    Proportional,  ///< stage s gets a share in proportion to s
    TargetAverage, ///< starts with Equal or Proportional, whichever has the average length nearer to the target (Equal
                   ///< if both are as near). Then moves the same number of steps from every stage before the last to
                   ///< the last, until the average is the target (RaPTr appendix E)
};
/// The treatment of the first and the last layer in makeStages().
enum class StageEnds { Kept, AsOthers };
/// Parses ascending average lengths: "6-8-10-12". Errors: text that is not a number, no lengths, a length that falls.
[[nodiscard]] Result<std::vector<double>> stageLengthsFrom(std::string_view text);
[[nodiscard]] std::string stageLengthsText(const StageSchedule& schedule);
/// Makes stages of these average lengths over `steps`. The first and last layers are always kept unless `ends` is
/// AsOthers. Sampling, scaling, axis and the full-model phase are those of `before`. The phase moves every border back
/// by its length, so that only the last stage becomes shorter (RaPTr §4.2); the target is the average without the
/// phase. Errors: a length outside 1..depth, more stages than steps, a target that no division reaches, a phase as long
/// as the last stage.
[[nodiscard]] Result<StageSchedule> makeStages(const StageSchedule& before, const std::vector<double>& lengths,
                                               StageSplit split, std::int64_t depth, std::int64_t steps,
                                               double target = 0, StageEnds ends = StageEnds::Kept);
/// The field that withFullModelSteps() sets.
inline constexpr std::string_view kFullModelSteps = "/schedule/full_model_steps";
/// Returns the schedule with a full-model phase of `steps`. The first stage begins after it and every border moves by
/// the same amount, so that only the last stage becomes shorter (RaPTr §4.2). Without stages only the field changes.
[[nodiscard]] StageSchedule withFullModelSteps(StageSchedule schedule, std::int64_t steps);
/// The field that stretches a schedule with stages when it is set (stretched()).
inline constexpr std::string_view kTrainingSteps = "/training/steps";
/// Returns the recommended lengths: four stages, from half the depth up by a sixth each (RaPTr §4.3), if the depth
/// allows it.
[[nodiscard]] std::vector<double> recommendedLengths(std::int64_t depth);

/// Returns the schedule of a training of `before` steps scaled to `after` steps: every border and phase keeps its share
/// of the steps. A stage without a step is removed. Unchanged if it is no schedule of `before` steps: a border or phase
/// lies outside them.
[[nodiscard]] StageSchedule stretched(StageSchedule schedule, std::int64_t before, std::int64_t after);

/// Returns the schedule of a training of `before` steps that is extended to `after`: stages do not move, and a curve
/// continues with the T of `before`.
[[nodiscard]] StageSchedule continued(StageSchedule schedule, std::int64_t before, std::int64_t after);

/// Returns the schedule with stage `index` starting at `start`, limited by its neighbours and `steps`.
[[nodiscard]] StageSchedule withStart(StageSchedule schedule, std::size_t index, std::int64_t start,
                                      std::int64_t steps);
/// Returns the schedule with an average of `length` layers in stage `index`, limited below by the stage before and its
/// always-kept layers, and above by the stage after and the depth.
[[nodiscard]] StageSchedule withLength(StageSchedule schedule, std::size_t index, double length, std::int64_t depth);
/// Returns the schedule with a new stage from `start` on, whose length is half way to that of the next stage. Unchanged
/// if a stage begins at `start` already.
[[nodiscard]] StageSchedule withSplit(StageSchedule schedule, std::int64_t start, std::int64_t depth);
/// Returns the schedule without stage `index`. Its steps go to the stage before it. If it is the first, the second
/// stage begins at its start.
[[nodiscard]] StageSchedule withoutStage(StageSchedule schedule, std::size_t index);

} // namespace residua::projects
