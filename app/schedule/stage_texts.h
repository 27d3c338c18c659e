// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "projects/cost/stage_cost.h"
#include "projects/schedule/stage_schedule.h"

#include <QStringList>

#include <cstdint>
#include <optional>
#include <vector>

namespace residua::app {

/// What the ribbon says of its parts. Each list is from the longest text to the shortest, of which the first is shown
/// that has room; lines are parted by newlines.

/// The texts of a span: what trains, how that is chosen, and its share of the FLOP with what it saves. `cost`: nullopt
/// while it is not known.
[[nodiscard]] QStringList spanTexts(const projects::StageSchedule& schedule, const projects::StageSpan& span,
                                    std::int64_t depth, std::int64_t steps,
                                    const std::optional<projects::SpanCost>& cost);
/// The texts of a whole curve, from its first steps to its last. `costs`: those of its spans; empty while they are not
/// known.
[[nodiscard]] QStringList curveTexts(const projects::StageSchedule& schedule, std::int64_t depth, std::int64_t steps,
                                     const std::vector<projects::SpanCost>& costs);
/// The training loss before and after a border, and its jump; empty where none was taken.
[[nodiscard]] QStringList borderTexts(const engine::StageRecord& border);
/// The memory that the steps of a span take, with the weights, and at most: "1.2 GiB, at most 1.5 GiB".
[[nodiscard]] QString memoryText(const projects::CostReport& report, const projects::SpanCost& cost);

} // namespace residua::app
