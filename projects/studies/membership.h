// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// An axis of a sweep with its value for one member.
struct AxisPoint {
    std::string field; ///< JSON pointer; empty if only the member's name is known
    std::string axis;  ///< label of the axis
    std::string value; ///< label of the value
    bool operator==(const AxisPoint&) const = default;
};

/// The sweep and member that a run belongs to. It is recorded when the run is made, and does not change if the run, the
/// sweep or the project is renamed. A run that is resumed with another number of steps stays a member; code that shows
/// results must compare what was trained.
struct Membership {
    std::string project;          ///< name of the studied project
    std::string sweep;            ///< name of the sweep; empty if only the member's name is known
    std::vector<AxisPoint> point; ///< one per axis, in order; a seed is the value of an axis under /seeds
    /// "0:2, 0.1". Unique within the sweep.
    [[nodiscard]] std::string label() const;
    /// Returns the label without the values of seed axes; empty if there are no others.
    [[nodiscard]] std::string labelApartFromSeeds() const;
    /// True if it was derived from a name (membershipFromName): its only axis has no field.
    [[nodiscard]] bool isGuessed() const { return point.size() == 1 && point.front().field.empty(); }
    bool operator==(const Membership&) const = default;
};

/// Returns the name of a member's project, which is also the name of its run: "project · 0:2, 0.1".
[[nodiscard]] std::string nameOf(const Membership& membership);
/// Derives the membership from a run's name; the text before the first divider is the project. This is a guess for
/// files without a membership, because a project's own name may contain the divider.
[[nodiscard]] std::optional<Membership> membershipFromName(std::string_view name);

/// Formats the membership for files: a JSON object on one line, or "null" if it is not a member.
[[nodiscard]] std::string textOf(const std::optional<Membership>& membership);
/// Parses the text of textOf(). The error gives the field, its value and the expected one.
[[nodiscard]] Result<std::optional<Membership>> membershipFrom(std::string_view text);

} // namespace residua::projects
