// SPDX-License-Identifier: GPL-3.0-or-later
// Edits of the named ranges of layers, which are a part of the layout.
#include "projects/layers/layer_edits.h"

#include <iterator>
#include <utility>

namespace residua::projects {

std::optional<Edit> groupEdit(const Document& document, const std::set<std::int64_t>& layers, const std::string& name)
{
    const std::int64_t depth = document.project.network.depth();
    const auto from = layers.lower_bound(1);
    const auto beyond = layers.upper_bound(depth);
    if (from == layers.end() || from == beyond || name.empty()) {
        return std::nullopt;
    }
    const LayerGroup group{name, *from, *std::prev(beyond)};
    std::vector<LayerGroup> groups = document.layout.groups;
    std::erase_if(groups, [&](const auto& g) { return g.first == group.first && g.last == group.last; });
    groups.push_back(group);
    return EditGroup{"Group layers as “" + name + "”", {SetLayerGroups{std::move(groups)}}};
}

Result<Edit> changeGroupEdit(std::vector<LayerGroup> groups, std::size_t at, LayerGroup changed)
{
    if (changed.name.empty()) {
        return Error{"groups", "a group has no name, expected one"};
    }
    const std::string title = "Change group “" + groups.at(at).name + "”";
    groups.at(at) = std::move(changed);
    return Edit{EditGroup{title, {SetLayerGroups{std::move(groups)}}}};
}

std::optional<Edit> ungroupEdit(const Document& document, const std::set<std::int64_t>& layers)
{
    std::vector<LayerGroup> groups = document.layout.groups;
    const auto taken = std::erase_if(groups, [&layers](const LayerGroup& group) {
        const auto first = layers.lower_bound(group.first);
        return first != layers.end() && *first <= group.last;
    });
    if (taken == 0) {
        return std::nullopt;
    }
    return EditGroup{"Ungroup layers", {SetLayerGroups{std::move(groups)}}};
}

} // namespace residua::projects
