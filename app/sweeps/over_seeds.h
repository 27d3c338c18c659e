// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace residua::app {

/// A number over the members of a sweep that differ in their seeds alone.
struct OverSeeds {
    std::size_t count = 0; ///< that have the number
    double mean = 0;
    double deviation = 0; ///< of the sample; 0 for one member
};

/// For each member what its group has: members with the same labels but on the axes of seeds are one. nullopt where no
/// member of the group has a number. `labels`: a member's, one for each axis; `seeds`: which axes are of seeds.
[[nodiscard]] std::vector<std::optional<OverSeeds>> overSeeds(const std::vector<std::vector<std::string>>& labels,
                                                              const std::vector<bool>& seeds,
                                                              const std::vector<std::optional<double>>& numbers);

} // namespace residua::app
