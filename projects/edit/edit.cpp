// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/edit/edit.h"

#include "projects/edit/edit_apply.h"
#include "projects/nodes/towers.h"

#include <utility>

namespace residua::projects {

namespace {

Status applyTo(Document& d, const SetSchedule& e)
{
    return put(d.project.stack().schedule, e.schedule, "/schedule");
}
Status applyTo(Document& d, const SetSweeps& e)
{
    return put(d.project.sweeps, e.sweeps, "/sweeps");
}
Status applyTo(Document& d, const SetLayerGroups& e)
{
    return put(d.layout.groups, e.groups, "/groups");
}
/// Removes layouts without content from the end, as files do.
void trim(std::vector<TowerLayout>& layouts)
{
    while (!layouts.empty() && layouts.back() == TowerLayout{}) {
        layouts.pop_back();
    }
}

Status applyTo(Document& d, const AddTower& e)
{
    std::vector<Tower> towers = d.project.towers;
    towers.push_back(e.tower);
    RESIDUA_TRY(put(d.project.towers, towers, "/towers"));
    d.layout.towers.resize(towers.size());
    Status set = put(d.layout.towers.back(), e.layout, "/towers");
    trim(d.layout.towers);
    return set;
}
Status applyTo(Document& d, const RemoveTower& e)
{
    if (e.index >= d.project.towers.size()) {
        return Error{"/towers", "has no entry " + std::to_string(e.index)};
    }
    d.project.towers.erase(d.project.towers.begin() + static_cast<std::ptrdiff_t>(e.index));
    if (e.index < d.layout.towers.size()) {
        d.layout.towers.erase(d.layout.towers.begin() + static_cast<std::ptrdiff_t>(e.index));
        trim(d.layout.towers);
    }
    moveSweptFields(d, {"/towers", e.index, ListChange::Kind::TakenOut});
    return Done{};
}
Status applyTo(Document& d, const SetLosses& e)
{
    return put(d.project.losses, e.losses, "/losses");
}
Status applyTo(Document& d, const SetTopology& e)
{
    return put(d.project.stack().topology, e.topology, "/topology");
}
Status applyTo(Document& d, const SetStack& e)
{
    Stack after;
    RESIDUA_TRY(put(after.segments, e.stack, "/network/stack"));
    RESIDUA_TRY(put(after.loops, e.loops, "/network/loops"));
    RESIDUA_TRY(checkDepth(after));
    d.project.stack().segments = std::move(after.segments);
    d.project.stack().loops = std::move(after.loops);
    return Done{};
}

Status applyTo(Document& document, const EditGroup& group)
{
    if (group.tower >= towerCount(document.project)) {
        return Error{"/towers", "has no tower " + std::to_string(group.tower)};
    }
    Document before = document;
    showTower(document, group.tower);
    for (const Edit& edit : group.edits) {
        if (Status applied = applyEdit(document, edit); !applied) {
            document = std::move(before);
            return applied;
        }
    }
    showTower(document, group.tower);
    return Done{};
}

} // namespace

void showTower(Document& document, std::size_t index)
{
    if (index == 0 || index >= towerCount(document.project)) {
        return;
    }
    document.project = viewOf(std::move(document.project), index);
    Layout& layout = document.layout;
    if (layout.towers.size() < index) {
        layout.towers.resize(index);
    }
    TowerLayout& other = layout.towers[index - 1];
    std::swap(layout.positions, other.positions);
    std::swap(layout.groups, other.groups);
    trim(layout.towers);
}

Status applyEdit(Document& document, const Edit& edit)
{
    return std::visit([&](const auto& e) { return applyTo(document, e); }, edit);
}

} // namespace residua::projects
