// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/training_plan.h"
#include "projects/schedule/stage_schedule.h"

#include <cstdint>
#include <string>
#include <vector>

namespace residua::projects {

/// The layers and parts that a step keeps, and their probabilities. Pure functions. Layers count from 1, in vectors
/// from index 0. Steps are 1..`steps`, and step t belongs to the span that contains t − 1.

[[nodiscard]] bool leavesOutLayers(DropAxis axis);
[[nodiscard]] bool leavesOutHeads(DropAxis axis);
[[nodiscard]] bool leavesOutMlp(DropAxis axis);
/// True if steps keep or leave out whole visits of loops (DropUnit::Visit).
[[nodiscard]] bool leavesOutVisits(const StageSchedule& schedule);
/// Returns a schedule of `stack` whose always-kept layers are all that its steps always keep. If the unit is a visit,
/// it adds the layers outside loops, the only visit of a loop, and the other layers of an always-kept layer's visit.
[[nodiscard]] StageSchedule drawnSchedule(StageSchedule schedule, const Stack& stack);

/// The kept share of each layer, in [0, 1].
struct KeepShares {
    std::vector<double> layers; ///< probability of the layer; 1 or 0 if the first layers train
    std::vector<double> parts;  ///< of its heads or MLP parts: the probability of each, or the share
};
/// Returns the kept shares in step `step` of the span.
[[nodiscard]] KeepShares keepShares(const StageSchedule& schedule, const StageSpan& span, std::int64_t depth,
                                    std::int64_t steps, std::int64_t step);
/// Returns the kept shares averaged over the span's steps.
[[nodiscard]] KeepShares keepShares(const StageSchedule& schedule, const StageSpan& span, std::int64_t depth,
                                    std::int64_t steps);
/// Returns the average number of layers that train in a step. Heads and parts count as fractions of a layer.
[[nodiscard]] double expectedLength(const StageSchedule& schedule, const StageSpan& span, std::int64_t depth,
                                    std::int64_t steps);
/// Returns the number of `count` heads or parts of a layer that a step keeps if their number is fixed or the first ones
/// train. At least 1.
[[nodiscard]] std::int64_t keptCount(double keep, std::int64_t count);
/// Returns the expected share of `count` heads or parts that a step keeps. At least one is always kept.
[[nodiscard]] double keptShare(DropSampling sampling, double keep, std::int64_t count);

/// Describes the part that a span trains: "8 of 12 layers", "8 of 12 layers by whole visits", "6 layers", "every
/// layer", "50 % of the heads", "all of the heads".
[[nodiscard]] std::string nameOf(const StageSchedule& schedule, const StageSpan& span, std::int64_t depth);

/// True if the network grows: only the first layers exist, more from stage to stage.
[[nodiscard]] bool grows(const StageSchedule& schedule);
/// Returns the number of layers of a growing network in the span; all layers if the depth does not grow.
[[nodiscard]] std::int64_t grownDepth(const StageSchedule& schedule, const StageSpan& span, std::int64_t depth);

/// The change of layers when a network grows from `before` layers to `after`. `source` is the old layer that a layer is
/// copied from, or 0 if it is newly initialised. Old layers may move to another number. If `source[l − 1] == l`, the
/// layer is unchanged. (RaPTr, appendix D.2.)
struct Growth {
    std::vector<std::int64_t> source; ///< of layers 1..after
    std::vector<bool> isNew;          ///< of layers 1..after
};
[[nodiscard]] Growth growthOf(GrowthSource kind, std::int64_t before, std::int64_t after);

} // namespace residua::projects
