// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/objective.h"
#include "projects/model/sweep.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// Successive halving of a sweep: all members train to the first rung, and the better half of their groups goes on to
/// the next one. A group is the members that differ in their seeds alone. Its value is their mean. The decision
/// depends on the values at the rung only, so that every process that looks at the members comes to the same one.

/// The steps of the rungs, ascending and below the last step of every member. Empty: no halving.
using Rungs = std::vector<std::int64_t>;
/// Parses "50,100,200".
[[nodiscard]] Result<Rungs> rungsFrom(std::string_view text);
/// Returns the usual rungs of a training of `steps`: an eighth, a quarter and a half of it.
[[nodiscard]] Rungs rungsFor(std::int64_t steps);
/// Returns an error unless the rungs suit members of `steps` steps.
[[nodiscard]] Status checkRungs(const Rungs& rungs, const Sweep& sweep, std::int64_t steps);

/// A member as far as it has been trained.
struct HalvedMember {
    std::vector<std::string> group;            ///< labels of the axes that are no seeds
    std::vector<std::optional<double>> values; ///< at each rung; nullopt if it has not been reached
    bool hasFailed = false;                    ///< it does not reach further rungs
};

/// The next thing that halving does with a member.
struct HalvingTurn {
    enum class Kind {
        Train,   ///< up to `stopAfter`
        Wait,    ///< for the other members of its rung
        LeftOut, ///< at the rung `stopAfter`
    } kind = Kind::Train;
    std::int64_t stopAfter = 0; ///< 0: its last step
    bool operator==(const HalvingTurn&) const = default;
};
/// Returns the turn of each member. A group whose members have all failed, or have no finite value, is left out first.
/// At least one group stays. Pure; any thread.
[[nodiscard]] std::vector<HalvingTurn> halve(const Rungs& rungs, std::span<const HalvedMember> members,
                                             const Judge& judge);

/// Returns the number of groups of the sweep's members.
[[nodiscard]] std::size_t groupCount(const Sweep& sweep);
/// Returns the share of the steps of a sweep of `groups` groups that halving trains.
[[nodiscard]] double halvedShare(const Rungs& rungs, std::size_t groups, std::int64_t steps);

} // namespace residua::projects
