// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/cost/cost.h"
#include "projects/model/project.h"
#include "projects/schedule/stage_schedule.h"

#include <cstdint>
#include <vector>

namespace residua::projects {

/// The cost of a step of a span. Layers and parts that are left out keep their weights, gradients and moments, and a
/// growing network has all of its weights from the first step, so these are the report's in every span.
struct SpanCost {
    double flopShare = 1;           ///< expected share of the FLOP of a step of the whole network
    double activationBytes = 0;     ///< expected bytes kept for the backward pass of one micro-batch
    double peakActivationBytes = 0; ///< of the largest step; if layers are drawn independently, that step keeps all
};
/// Returns the costs of the spans of spansOf(), in the same order. `report` may be of the document before an edit;
/// parts that it lacks count as 0.
[[nodiscard]] std::vector<SpanCost> costsOfSpans(const Project& project, const CostReport& report);

/// Returns the expected FLOP of all steps as a share of those of the full model, with each layer weighted by the
/// probability that it is kept. `report` is the project's. Returns 1 without stages.
[[nodiscard]] double expectedFlopShare(const Project& project, const CostReport& report);

/// A range of steps with the same expected FLOP per step, as a share of those of a step of the whole network. The share
/// is constant within a stage and within a span of a curve. An empty course means that every step is whole.
struct FlopStretch {
    std::int64_t to = 0; ///< last step; the range begins after the previous one
    double share = 1;
    bool operator==(const FlopStretch&) const = default;
};
using FlopCourse = std::vector<FlopStretch>;
[[nodiscard]] FlopCourse flopCourseOf(const Project& project, const CostReport& report);
/// Returns the FLOP of the first `steps` steps, in steps of the whole network. Steps after the course are whole.
[[nodiscard]] double wholeSteps(const FlopCourse& course, double steps);

} // namespace residua::projects
