// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace residua::app {

/// A number over the members of a sweep that differ only in their seeds.
struct OverSeeds {
    std::size_t count = 0; ///< number of members that have the number
    double mean = 0;
    double deviation = 0; ///< of the sample; 0 for one member
};

/// Returns for each member the numbers of its group: the members whose labels are equal except on the axes of seeds.
/// nullopt if no member of the group has a number. `labels` has one label per axis for each member; `seeds` marks the
/// axes of seeds.
[[nodiscard]] std::vector<std::optional<OverSeeds>> overSeeds(const std::vector<std::vector<std::string>>& labels,
                                                              const std::vector<bool>& seeds,
                                                              const std::vector<std::optional<double>>& numbers);

} // namespace residua::app
