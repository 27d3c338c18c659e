// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sweeps/over_seeds.h"

#include <cmath>
#include <map>

namespace residua::app {

std::vector<std::optional<OverSeeds>> overSeeds(const std::vector<std::vector<std::string>>& labels,
                                                const std::vector<bool>& seeds,
                                                const std::vector<std::optional<double>>& numbers)
{
    std::map<std::vector<std::string>, std::vector<std::size_t>> groups;
    for (std::size_t member = 0; member < labels.size(); ++member) {
        std::vector<std::string> group;
        for (std::size_t axis = 0; axis < labels[member].size(); ++axis) {
            if (!seeds[axis]) {
                group.push_back(labels[member][axis]);
            }
        }
        groups[group].push_back(member);
    }
    std::vector<std::optional<OverSeeds>> found(labels.size());
    for (const auto& [group, members] : groups) {
        OverSeeds over;
        for (const std::size_t member : members) {
            if (numbers[member]) {
                ++over.count;
                over.mean += *numbers[member];
            }
        }
        if (over.count == 0) {
            continue;
        }
        over.mean /= static_cast<double>(over.count);
        double squares = 0;
        for (const std::size_t member : members) {
            squares += numbers[member] ? std::pow(*numbers[member] - over.mean, 2) : 0;
        }
        over.deviation = over.count > 1 ? std::sqrt(squares / static_cast<double>(over.count - 1)) : 0;
        for (const std::size_t member : members) {
            found[member] = over;
        }
    }
    return found;
}

} // namespace residua::app
