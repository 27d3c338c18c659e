// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/network/group_runs.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <string>
#include <utility>

namespace residua::engine {
namespace {

using projects::LossGroup;
using projects::Project;
using Towers = std::set<std::size_t>;

/// Returns `needed` with the towers that the losses of a group and these towers read, also through others.
Towers reachedBy(const Project& project, const std::vector<std::size_t>& order, const LossGroup& group, Towers needed)
{
    for (const projects::Loss& loss : group.losses) {
        needed.insert({projects::towerOfValue(project, loss.output), projects::towerOfValue(project, loss.target)});
    }
    needed.erase(projects::towerCount(project));                 // of names without a tower
    for (const std::size_t tower : std::views::reverse(order)) { // each reads earlier ones
        if (needed.contains(tower)) {
            for (const std::string& value : projects::readValues(project, tower)) {
                needed.insert(projects::towerOfValue(project, value));
            }
        }
    }
    return needed;
}

/// Leaves out each tower that the group does not train, also through others, if an earlier one runs it.
void shareValues(const Project& project, const std::vector<LossGroup>& groups, std::vector<GroupRun>& runs)
{
    std::map<std::size_t, std::size_t> ranIn; // the group
    for (std::size_t group = 0; group < groups.size(); ++group) {
        const Towers needed = runs[group].runs;
        for (const std::size_t tower : needed) {
            const auto [ran, isFirst] = ranIn.emplace(tower, group);
            const bool isTrained = std::ranges::any_of(projects::reachOf(project, {tower}), [&](std::size_t each) {
                return groups[group].trains.contains(each);
            });
            if (!isFirst && !isTrained) {
                runs[ran->second].keeps.insert(tower);
                runs[group].runs.erase(tower);
            }
        }
    }
}

} // namespace

GroupRuns groupRunsOf(const Project& project, const std::vector<LossGroup>& groups,
                      const std::vector<std::size_t>& order, const std::set<std::size_t>& regularised)
{
    Towers measured;
    Towers trained = regularised;
    for (const std::size_t tower : order) {
        const projects::OwnLoss own = projects::towerAt(project, tower).ownLoss;
        if (own != projects::OwnLoss::None) {
            measured.insert(tower);
        }
        if (own == projects::OwnLoss::Trained) {
            trained.insert(tower);
        }
    }
    GroupRuns runs;
    for (const LossGroup& group : groups) {
        runs.alone.push_back({reachedBy(project, order, group, {}), {}, {}});
    }
    runs.sharing = runs.alone;
    runs.sharing.front().runs = reachedBy(project, order, groups.front(), trained);
    trained.insert(measured.begin(), measured.end());
    runs.alone.front() = {reachedBy(project, order, groups.front(), std::move(trained)), measured, {}};
    for (const std::size_t tower : measured) {
        auto run = std::ranges::find_if(runs.sharing, [&](const GroupRun& each) { return each.runs.contains(tower); });
        if (run == runs.sharing.end()) {
            run = runs.sharing.begin();
            run->runs.merge(reachedBy(project, order, groups.front(), {tower}));
        }
        run->measures.insert(tower);
    }
    shareValues(project, groups, runs.sharing);
    return runs;
}

} // namespace residua::engine
