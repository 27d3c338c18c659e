// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace residua::projects {

/// What the project of a sweep's member is called, and so its run.
struct MemberName {
    std::string project; ///< that is studied
    std::string member;  ///< its label, "0:2, 0.1"; empty: the run is of no sweep
    bool operator==(const MemberName&) const = default;
};

/// "project · 0:2, 0.1": the one form in which files and screens have it.
[[nodiscard]] std::string textOf(const MemberName& name);
/// The same, read back: up to the first divider it is the project.
[[nodiscard]] MemberName memberNameFrom(std::string_view text);

} // namespace residua::projects
