// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace residua::engine {

/// A stage of training that has begun, as the run's events tell.
struct StageStart {
    std::int64_t step = 0; ///< the last step before it
    std::string name;
    bool operator==(const StageStart&) const = default;
};

/// What the loss did where a stage began.
struct StageTransition {
    std::int64_t step = 0;
    std::string name;
    double before = 0; ///< mean training loss of the last steps before; NaN where there is none
    double after = 0;  ///< and of the first steps after
    [[nodiscard]] double jump() const { return after - before; }
    bool operator==(const StageTransition&) const = default;
};

/// Ascending by step, the last 1,000. A stage that a resumed run begins again counts once, as begun last.
[[nodiscard]] std::vector<StageStart> stageStarts(const std::vector<RunEvent>& events);
/// Of every stage but one that begins with the run. The training loss of each step: `steps` ascending, `losses` as
/// long.
[[nodiscard]] std::vector<StageTransition>
stageTransitions(const std::vector<StageStart>& stages, std::span<const double> steps, std::span<const double> losses);

} // namespace residua::engine
