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

/// Arithmetic of progressive subnetworks (RaPTr §2, §4.3): how long each stage is, and how they are edited. Who is kept
/// in a step is in kept_parts.h. Pure.

/// The probability with which each layer outside the always-kept set I_s is kept: p_s = (ℓ − |I_s|)/(L − |I_s|), in [0,
/// 1].
[[nodiscard]] double keepProbability(const Stage& stage, std::int64_t depth);
/// Whether every step trains every layer, head and part.
[[nodiscard]] bool trainsAll(const StageSchedule& schedule);

/// A stretch of training with the same layers at stake.
struct StageSpan {
    static constexpr std::size_t kFull = SIZE_MAX;
    static constexpr std::size_t kCurve = SIZE_MAX - 1;
    std::int64_t from = 0; ///< steps [from, to)
    std::int64_t to = 0;
    std::size_t stage = kFull; ///< index of its stage; kFull: every layer trains; kCurve: as the curve says
    double averageLength = 0;
    [[nodiscard]] bool isStage() const { return stage < kCurve; }
    bool operator==(const StageSpan&) const = default;
};
/// What is trained when, over all of `steps`, ascending and without holes: the full model up to the first stage and
/// for fullModelSteps, then each stage from its start. Stages that begin at or after `steps` have no span. A curve is
/// cut into equal stretches, each with its mean.
[[nodiscard]] std::vector<StageSpan> spansOf(const StageSchedule& schedule, std::int64_t depth, std::int64_t steps);
/// The span that step `step` (from 1) belongs to; for a step past the end the last. Precondition: there is a span.
[[nodiscard]] const StageSpan& spanAt(const std::vector<StageSpan>& spans, std::int64_t step);

/// Mean of the average lengths over the steps, in layers.
[[nodiscard]] double averageLength(const StageSchedule& schedule, std::int64_t depth, std::int64_t steps);

/// How the steps are divided among stages.
enum class StageSplit {
    Equal,         ///< the same number of steps each
    Proportional,  ///< the s-th gets a share in proportion to s
    TargetAverage, ///< the one of the two whose average length over training is nearer to the target (equal where both
                   ///< are as near), then the same number of steps is moved from every stage before the last to the
                   ///< last, until the average is the target (RaPTr appendix E)
};
/// What makeStages does with the first and the last layer.
enum class StageEnds { Kept, AsOthers };
/// "6-8-10-12": average lengths, ascending. Errors: what is no number, fewer than one, a fall.
[[nodiscard]] Result<std::vector<double>> stageLengthsFrom(std::string_view text);
[[nodiscard]] std::string stageLengthsText(const StageSchedule& schedule);
/// Stages of these average lengths over `steps`, first and last layer always kept unless `ends` says otherwise;
/// sampling, scaling, axis and the full-model phase are `before`'s. The phase pushes every border back by its length,
/// and so the last stage alone makes up for it (RaPTr §4.2); the target is the average without it. Errors: a length
/// outside 1..depth, more stages than steps, a target that no division comes to, a phase as long as the last stage.
[[nodiscard]] Result<StageSchedule> makeStages(const StageSchedule& before, const std::vector<double>& lengths,
                                               StageSplit split, std::int64_t depth, std::int64_t steps,
                                               double target = 0, StageEnds ends = StageEnds::Kept);
/// The field that withFullModelSteps sets.
inline constexpr std::string_view kFullModelSteps = "/schedule/full_model_steps";
/// The schedule whose full-model phase lasts `steps`: the first stage begins after it and every border moves with the
/// first stage, so the last stage alone makes up for the phase (RaPTr §4.2). Without stages only the field changes.
[[nodiscard]] StageSchedule withFullModelSteps(StageSchedule schedule, std::int64_t steps);
/// The recommended start: four stages, from half the depth up by a sixth each (RaPTr §4.3), where the depth has room.
[[nodiscard]] std::vector<double> recommendedLengths(std::int64_t depth);

/// The schedule of a training of `before` steps for one of `after`: every border and phase keeps its share of them. A
/// stage that would have no step goes.
[[nodiscard]] StageSchedule stretched(StageSchedule schedule, std::int64_t before, std::int64_t after);

/// The schedule of a training of `before` steps that goes on to `after`: stages stay where they are, and a curve goes
/// on as it began, over the T of before.
[[nodiscard]] StageSchedule continued(StageSchedule schedule, std::int64_t before, std::int64_t after);

/// Stage `index` begins at `start` instead, but stays between its neighbours and within `steps`.
[[nodiscard]] StageSchedule withStart(StageSchedule schedule, std::size_t index, std::int64_t start,
                                      std::int64_t steps);
/// Stage `index` keeps `length` layers on average, but no fewer than the stage before and its always-kept layers, and
/// no more than the stage after and the depth.
[[nodiscard]] StageSchedule withLength(StageSchedule schedule, std::size_t index, double length, std::int64_t depth);
/// The schedule with one more stage, from `start` on, whose length is half way to what follows. Unchanged where a stage
/// begins there already.
[[nodiscard]] StageSchedule withSplit(StageSchedule schedule, std::int64_t start, std::int64_t depth);
/// The schedule without a stage. Its steps go to the stage before it; where it is the first, the second begins in its
/// place.
[[nodiscard]] StageSchedule withoutStage(StageSchedule schedule, std::size_t index);

} // namespace residua::projects
