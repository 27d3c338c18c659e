// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/topology.h"
#include "projects/model/training_plan.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// A published way of training a part of a network first, as a schedule of stages.
struct SchedulePreset {
    std::string name; ///< stable key: "raptr"
    std::string title;
    std::string source; ///< paper, section
    std::string summary;
    StageSchedule rules; ///< everything but the stages
    /// The shares of the depth that its stages have by default, ascending; none: it goes by a curve, or trains all.
    std::vector<double> shares;
    bool keepsEnds = false; ///< the first and the last layer always train
};
/// none, raptr, raptr-free, raptr-heads, raptr-mlp, pld, stochastic-depth, stacking, bert2bert, lemon,
/// lemon-raptr, msg, msg-between, msg-heads, msg-mlp.
[[nodiscard]] std::span<const SchedulePreset> schedulePresets();
/// nullptr for an unknown name.
[[nodiscard]] const SchedulePreset* findSchedulePreset(std::string_view name);

/// The preset for a network of `depth` layers trained for `steps`, in equal stages. A warm-up is a hundredth of the
/// steps.
[[nodiscard]] StageSchedule scheduleOf(const SchedulePreset& preset, std::int64_t depth, std::int64_t steps);

/// What people choose a topology from, in display order: the presets for `depth` layers or for a network's, and what
/// goes by such a name but is a schedule beside the plain wiring (stochastic depth).
[[nodiscard]] std::vector<TopologyPreset> topologyChoices(std::int64_t depth);
[[nodiscard]] std::vector<TopologyPreset> topologyChoices(const Network& network);
/// The schedule that choosing a topology preset sets; nothing where it leaves the schedule alone.
[[nodiscard]] std::optional<StageSchedule> scheduleBeside(const TopologyPreset& preset, std::int64_t depth,
                                                          std::int64_t steps);

/// A preset's name, and after it, where wanted, the average lengths of the stages, how the steps are divided among them
/// and the steps of the full model before, or the curve's ᾱ: "raptr", "stacking 6-8-10-12",
/// "raptr 8-12-16-20 proportional", "raptr 8-12-16-20 average 16", "raptr 12-16-20-24 proportional full 30000",
/// "pld 0.6". Errors say what is wrong, with the nearest name.
[[nodiscard]] Result<StageSchedule> scheduleFrom(std::string_view text, std::int64_t depth, std::int64_t steps);

} // namespace residua::projects
