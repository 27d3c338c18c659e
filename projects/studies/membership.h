// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// An axis of a sweep with the value that it has for one member.
struct AxisPoint {
    std::string field; ///< JSON pointer; empty where the member is known by its name alone
    std::string axis;  ///< the axis' label
    std::string value; ///< the value's label
    bool operator==(const AxisPoint&) const = default;
};

/// Which member of which sweep a run is. It is written down when the run is made, and stays what it is when the run,
/// the sweep or the project is renamed later. A run that is resumed with another number of steps stays a member: who
/// shows results compares what was trained.
struct Membership {
    std::string project;          ///< the name of what is studied
    std::string sweep;            ///< its name; empty where the member is known by its name alone
    std::vector<AxisPoint> point; ///< for each axis, in their order; a seed is the value of an axis under /seeds
    /// "0:2, 0.1": within its sweep no other member has it.
    [[nodiscard]] std::string label() const;
    /// Whether it was guessed from a name (membershipFromName): its only axis has no field.
    [[nodiscard]] bool isGuessed() const { return point.size() == 1 && point.front().field.empty(); }
    bool operator==(const Membership&) const = default;
};

/// What a member's project is called, and so its run: "project · 0:2, 0.1".
[[nodiscard]] std::string nameOf(const Membership& membership);
/// The member that a run of this name is, up to the first divider its project. A guess, for files from before they held
/// a membership: a project may have the divider in its own name.
[[nodiscard]] std::optional<Membership> membershipFromName(std::string_view name);

/// As files have it: a JSON object on one line, or "null" for what is no member.
[[nodiscard]] std::string textOf(const std::optional<Membership>& membership);
/// Reads what textOf() gives. Errors name the field, what it is and what was expected.
[[nodiscard]] Result<std::optional<Membership>> membershipFrom(std::string_view text);

} // namespace residua::projects
