// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/edit/edit.h"

#include "projects/edit/edit_apply.h"

#include <algorithm>

namespace residua::projects {

namespace {

/// An edit that holds a value puts it in place; its inverse is the same edit with the old one.
template <class E, class T>
Result<Edit> set(const E& edit, T E::*value, T& target, const char* place)
{
    auto old = exchanged(target, edit.*value, place);
    if (!old) {
        return old.error();
    }
    E inverse;
    inverse.*value = *std::move(old);
    return Edit{std::move(inverse)};
}

Result<Edit> applyTo(Document& d, const SetSchedule& e)
{
    return set(e, &SetSchedule::schedule, d.project.schedule, "/schedule");
}
Result<Edit> applyTo(Document& d, const SetSweeps& e)
{
    return set(e, &SetSweeps::sweeps, d.project.sweeps, "/sweeps");
}
Result<Edit> applyTo(Document& d, const SetLayerGroups& e)
{
    return set(e, &SetLayerGroups::groups, d.layout.groups, "/groups");
}
Result<Edit> applyTo(Document& d, const SetTopology& e)
{
    return set(e, &SetTopology::topology, d.project.topology, "/topology");
}
Result<Edit> applyTo(Document& d, const SetStack& e)
{
    return set(e, &SetStack::stack, d.project.network.stack, "/network/stack");
}

Result<Edit> applyTo(Document& document, const EditGroup& group)
{
    std::vector<Edit> inverses;
    const auto takeBack = [&] {
        for (auto inverse = inverses.rbegin(); inverse != inverses.rend(); ++inverse) {
            (void)applyEdit(document, *inverse).value(); // fits the state it was made in
        }
    };
    for (const Edit& edit : group.edits) {
        auto inverse = applyEdit(document, edit);
        if (!inverse) {
            takeBack();
            return inverse.error();
        }
        inverses.push_back(*std::move(inverse));
    }
    std::reverse(inverses.begin(), inverses.end());
    return Edit{EditGroup{group.title, std::move(inverses)}};
}

} // namespace

Edit inverseOf(std::vector<Edit> edits)
{
    return edits.size() == 1 ? std::move(edits.front()) : Edit{EditGroup{{}, std::move(edits)}};
}

Result<Edit> applyEdit(Document& document, const Edit& edit)
{
    return std::visit([&](const auto& e) { return applyTo(document, e); }, edit);
}

} // namespace residua::projects
