// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/objective.h"
#include "projects/model/sweep.h"
#include "projects/studies/paired_difference.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace residua::projects {

/// The evaluation of a sweep whose members have finished. Pure functions; any thread.

/// A member with the value that members are compared by.
struct SweepResult {
    std::vector<std::string> values; ///< labels, one per axis
    std::optional<double> value;     ///< nullopt if it has not finished or has diverged
};

/// The purpose of an axis.
enum class AxisRole {
    Compared, ///< such as the topology
    Searched, ///< a number of training or initialisation, such as a learning rate: only its best value counts
    Seed,     ///< repeats the same experiment
};
[[nodiscard]] AxisRole roleOf(const SweepAxis& axis);
/// Returns the role of each axis.
[[nodiscard]] std::vector<AxisRole> rolesOf(const Sweep& sweep);
/// Returns the labels of the axes with this role.
[[nodiscard]] std::vector<std::string> axisLabels(const Sweep& sweep, AxisRole role);

/// Returns for each member the mean over the members that differ from it in their seeds alone. `roles` has one entry
/// per axis.
[[nodiscard]] std::vector<MeanOfSeveral> meansOverSeeds(std::span<const AxisRole> roles,
                                                        std::span<const SweepResult> results);

/// The best values of the searched axes for one point of the compared axes.
struct BestOfEach {
    std::vector<std::string> compared; ///< labels; empty if no axis is compared
    std::vector<std::string> best;     ///< labels of the searched axes
    MeanOfSeveral mean;                ///< over seeds, at the best values
    bool isAtEnd = false;              ///< true if a best value is the first or last of its axis: another may be better
    std::size_t missing = 0;           ///< points of the searched axes without a finished member
};
/// Returns the best for each point of the compared axes in the order of the grid, or nothing if the sweep searches no
/// axis. Points without a finished member are left out.
[[nodiscard]] std::vector<BestOfEach> bestOfEach(const Sweep& sweep, std::span<const SweepResult> results,
                                                 const Judge& judge);

/// Returns the reason for doubt in the choice: "at the end of its range", "2 points are missing"; empty if there is
/// none.
[[nodiscard]] std::string remarkOn(const BestOfEach& best);

/// The share of the variance of the members' values that each axis explains on its own (functional analysis of
/// variance), and the share that only axes together explain. For a grid without gaps the shares add up to 1; otherwise
/// they are estimates.
struct AxisImportance {
    std::vector<double> shares; ///< one per axis; NaN if finished members have fewer than two of its values
    double together = 0;        ///< the rest: interactions of axes
    std::size_t count = 0;      ///< finished members
};
/// Returns nullopt if fewer than two members have finished, or if all of them have one value.
[[nodiscard]] std::optional<AxisImportance> importanceOf(const Sweep& sweep, std::span<const SweepResult> results);
/// Returns a share of AxisImportance in per cent, or "unknown".
[[nodiscard]] std::string shareText(double share);

} // namespace residua::projects
