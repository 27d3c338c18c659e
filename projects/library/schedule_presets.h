// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/base/text.h"
#include "projects/model/topology.h"
#include "projects/model/training_plan.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// A published method that first trains a part of a network, as a schedule of stages.
struct SchedulePreset {
    std::string name; ///< stable key: "raptr"
    std::string title;
    std::string source; ///< paper, section
    std::string summary;
    StageSchedule rules; ///< everything except the stages
    /// The default lengths of its stages as shares of the depth, ascending. Empty if it uses a curve or trains all
    /// layers.
    std::vector<double> shares;
    bool keepsEnds = false; ///< if true, the first and the last layer always train
};
/// none, raptr, raptr-free, raptr-heads, raptr-mlp, pld, stochastic-depth, stacking, bert2bert, lemon,
/// lemon-raptr, msg, msg-between, msg-heads, msg-mlp.
[[nodiscard]] std::span<const SchedulePreset> schedulePresets();
/// Returns null for an unknown name.
[[nodiscard]] const SchedulePreset* findSchedulePreset(std::string_view name);

/// Returns the preset's schedule for a network of `depth` layers trained for `steps`, in equal stages. A warm-up is a
/// hundredth of the steps.
[[nodiscard]] StageSchedule scheduleOf(const SchedulePreset& preset, std::int64_t depth, std::int64_t steps);

/// Returns the topologies to choose from, in display order: the presets for `depth` layers or for a network, and
/// stochastic depth, which is a schedule with the plain wiring.
[[nodiscard]] std::vector<TopologyPreset> topologyChoices(std::int64_t depth);
[[nodiscard]] std::vector<TopologyPreset> topologyChoices(const Network& network);
/// Returns the names of a method's presets, in display order: ancre-ingoing, ancre-outgoing, … for "ANCRe",
/// hyper-static and hyper-dynamic for "hyper-connections". Compares `word` with the first words of names and titles
/// and, if none matches, of sources. Ignores case and punctuation.
[[nodiscard]] std::vector<std::string> variantsOf(std::string_view word, std::span<const TopologyPreset> presets);
/// Returns "ancre is ancre-ingoing, … or ancre-cascaded" for a message that rejects `word`. Empty if it has no
/// variants.
[[nodiscard]] std::string variantsText(std::string_view word, std::span<const TopologyPreset> presets);
/// Returns the end of a message that rejects `word`, which names none of the presets: its variants, else the nearest
/// name, else `otherwise`.
[[nodiscard]] std::string presetHint(std::string_view word, std::span<const TopologyPreset> presets, HintForm form = {},
                                     std::string_view otherwise = {});
/// Returns the schedule that a topology preset also selects, or nullopt if it leaves the schedule unchanged.
[[nodiscard]] std::optional<StageSchedule> scheduleBeside(const TopologyPreset& preset, std::int64_t depth,
                                                          std::int64_t steps);

/// Parses a preset's name, optionally followed by the average lengths of the stages, the division of the steps among
/// them, and the steps of the full-model phase, or by the curve's ᾱ: "raptr", "stacking 6-8-10-12", "raptr 8-12-16-20
/// proportional", "raptr 8-12-16-20 average 16", "raptr 12-16-20-24 proportional full 30000", "pld 0.6". A last word
/// "visits" leaves out whole visits of loops: "raptr visits". The error describes the problem and suggests the nearest
/// name.
[[nodiscard]] Result<StageSchedule> scheduleFrom(std::string_view text, std::int64_t depth, std::int64_t steps);

} // namespace residua::projects
