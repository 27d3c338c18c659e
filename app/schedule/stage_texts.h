// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"
#include "projects/cost/stage_cost.h"
#include "projects/schedule/stage_schedule.h"

#include <QStringList>

#include <cstdint>
#include <optional>
#include <vector>

namespace residua::app {

/// The texts of the ribbon's parts. Each list is ordered from the longest text to the shortest. The first one that fits
/// is shown. Lines are separated by newlines.

/// Returns the texts of a span: the parts that train, their selection, and the share of the FLOP with the savings.
/// `cost` is nullopt while it is unknown.
[[nodiscard]] QStringList spanTexts(const projects::StageSchedule& schedule, const projects::StageSpan& span,
                                    std::int64_t depth, std::int64_t steps,
                                    const std::optional<projects::SpanCost>& cost);
/// Returns the texts of a whole curve, from its first steps to its last. `costs` are those of its spans; empty while
/// they are unknown.
[[nodiscard]] QStringList curveTexts(const projects::StageSchedule& schedule, std::int64_t depth, std::int64_t steps,
                                     const std::vector<projects::SpanCost>& costs);
/// Returns the training loss before and after a border, and the jump; empty if the loss was not recorded.
[[nodiscard]] QStringList borderTexts(const engine::StageRecord& border);
/// Returns the memory of the steps of a span, including the weights: "1.2 GiB, at most 1.5 GiB".
[[nodiscard]] QString memoryText(const projects::CostReport& report, const projects::SpanCost& cost);

} // namespace residua::app
