// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/cost/cost.h"
#include "projects/model/project.h"
#include "projects/schedule/stage_schedule.h"

#include <cstdint>
#include <vector>

namespace residua::projects {

/// What a step of a span takes. What it leaves out keeps its weights, gradients and moments, and a network that grows
/// has all of its weights from the first step: they are the report's in every span.
struct SpanCost {
    double flopShare = 1;           ///< expected, of those of a step of the whole network
    double activationBytes = 0;     ///< expected, kept for the backward pass of one micro-batch
    double peakActivationBytes = 0; ///< of the largest step; where layers are drawn one by one, that step keeps all
};
/// The costs of each of spansOf(), in its order. `report` may be of the document before an edit; what it does not know
/// counts 0.
[[nodiscard]] std::vector<SpanCost> costsOfSpans(const Project& project, const CostReport& report);

/// FLOP that all steps are expected to take, as a share of those of the full model: each layer's part is weighted
/// with how often it is kept. `report` is the project's. 1 without stages.
[[nodiscard]] double expectedFlopShare(const Project& project, const CostReport& report);

/// How the FLOP of a training go on: what a step is expected to take as a share of a step of the whole network, which
/// is the same within a stage, and within a stretch of a curve. Empty: every step is whole.
struct FlopStretch {
    std::int64_t to = 0; ///< its last step; it begins after the stretch before
    double share = 1;
    bool operator==(const FlopStretch&) const = default;
};
using FlopCourse = std::vector<FlopStretch>;
[[nodiscard]] FlopCourse flopCourseOf(const Project& project, const CostReport& report);
/// FLOP of the first `steps` steps, in steps of the whole network. Steps past the course are whole.
[[nodiscard]] double wholeSteps(const FlopCourse& course, double steps);

} // namespace residua::projects
