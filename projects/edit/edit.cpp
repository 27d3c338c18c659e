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
Status applyTo(Document& d, const SetTopology& e)
{
    return put(d.project.stack().topology, e.topology, "/topology");
}
Status applyTo(Document& d, const SetStack& e)
{
    Stack after;
    if (Status stack = put(after.segments, e.stack, "/network/stack"); !stack) {
        return stack;
    }
    if (Status loops = put(after.loops, e.loops, "/network/loops"); !loops) {
        return loops;
    }
    if (Status fits = checkDepth(after); !fits) {
        return fits;
    }
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
    while (!layout.towers.empty() && layout.towers.back() == TowerLayout{}) {
        layout.towers.pop_back();
    }
}

Status applyEdit(Document& document, const Edit& edit)
{
    return std::visit([&](const auto& e) { return applyTo(document, e); }, edit);
}

} // namespace residua::projects
