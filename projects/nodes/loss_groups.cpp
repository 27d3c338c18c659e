// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/nodes/loss_groups.h"

#include "projects/nodes/towers.h"

#include <algorithm>

namespace residua::projects {

std::vector<LossGroup> lossGroupsOf(const Project& project)
{
    LossGroup all{.trains = {}, .losses = {}, .hasObjectives = true};
    for (std::size_t index = 0; index < towerCount(project); ++index) {
        if (!towerAt(project, index).frozen) {
            all.trains.insert(index);
        }
    }
    std::vector<LossGroup> groups{all};
    for (const Loss& loss : project.losses) {
        std::set<std::size_t> trains;
        for (const std::string& name : loss.trains) {
            trains.insert(towerNamed(project, name));
        }
        const std::set<std::size_t>& wanted = trains.empty() ? all.trains : trains;
        auto group = std::ranges::find(groups, wanted, &LossGroup::trains);
        if (group == groups.end()) {
            group = groups.insert(groups.end(), {.trains = wanted, .losses = {}});
        }
        group->losses.push_back(loss);
    }
    return groups;
}

} // namespace residua::projects
