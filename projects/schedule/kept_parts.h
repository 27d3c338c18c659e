// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/training_plan.h"
#include "projects/schedule/stage_schedule.h"

#include <cstdint>
#include <string>
#include <vector>

namespace residua::projects {

/// Who is kept in a step, and with which probability. Pure. Layers count from 1, in vectors from index 0; steps are
/// 1..`steps`, and step t belongs to the span that holds t − 1.

[[nodiscard]] bool leavesOutLayers(DropAxis axis);
[[nodiscard]] bool leavesOutHeads(DropAxis axis);
[[nodiscard]] bool leavesOutMlp(DropAxis axis);

/// What of each layer is kept, in [0, 1].
struct KeepShares {
    std::vector<double> layers; ///< the probability that the layer is; 1 or 0 for the first ones of a growing network
    std::vector<double> parts;  ///< of its heads, or of its MLPs' parts: each one's probability, or the share
};
/// What is kept in step `step` of the span.
[[nodiscard]] KeepShares keepShares(const StageSchedule& schedule, const StageSpan& span, std::int64_t depth,
                                    std::int64_t steps, std::int64_t step);
/// What is kept as a mean over the span's steps.
[[nodiscard]] KeepShares keepShares(const StageSchedule& schedule, const StageSpan& span, std::int64_t depth,
                                    std::int64_t steps);
/// How many layers train in a step on average, or their heads' or parts' worth of it.
[[nodiscard]] double expectedLength(const StageSchedule& schedule, const StageSpan& span, std::int64_t depth,
                                    std::int64_t steps);
/// How many of `count` heads or parts of a layer a step keeps where their number is fixed or the first ones train: at
/// least one.
[[nodiscard]] std::int64_t keptCount(double keep, std::int64_t count);
/// The expected share of `count` heads or parts that a step keeps. Where none would be drawn, one is kept.
[[nodiscard]] double keptShare(DropSampling sampling, double keep, std::int64_t count);

/// What a span trains, in words: "8 of 12 layers", "6 layers", "every layer", "50 % of the heads", "all of the heads".
[[nodiscard]] std::string nameOf(const StageSchedule& schedule, const StageSpan& span, std::int64_t depth);

/// Whether the network grows: the first layers alone are there, more from stage to stage.
[[nodiscard]] bool grows(const StageSchedule& schedule);
/// How many layers a growing network has in the span; all where it does not grow in depth.
[[nodiscard]] std::int64_t grownDepth(const StageSchedule& schedule, const StageSpan& span, std::int64_t depth);

/// What becomes of the layers where a growing network goes from `before` layers to `after`: of each new layer, from
/// which old one it is copied, 0: none, it starts as it is initialised. Old layers may move: their own number is then
/// another. Where `source[l − 1] == l`, nothing happens to the layer. (RaPTr, appendix D.2.)
struct Growth {
    std::vector<std::int64_t> source; ///< of layers 1..after
    std::vector<bool> isNew;          ///< of layers 1..after
};
[[nodiscard]] Growth growthOf(GrowthSource kind, std::int64_t before, std::int64_t after);

} // namespace residua::projects
