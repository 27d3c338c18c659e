// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/edit/edit.h"

#include "projects/model/graph.h"
#include "projects/model/places.h"
#include "projects/schema/fields.h"

namespace residua::projects {

namespace {

/// Returns "Set width to 8" or "Set learning rate · peak to 0.1", without the section. Omits a value that is long or
/// has parts.
std::string titleOfField(const SetField& edit)
{
    constexpr std::size_t kLongest = 32;
    const std::string place = placeInSection(Project{}, edit.pointer);
    const bool isShort = edit.value.json.size() <= kLongest && edit.value.json.find_first_of("{[") == std::string::npos;
    return isShort ? "Set " + place + " to " + edit.value.json : "Change " + place;
}

struct Titler {
    std::string operator()(const SetField& e) const { return titleOfField(e); }
    std::string operator()(const SetSchedule&) const { return "Change stage schedule"; }
    std::string operator()(const SetSweeps&) const { return "Change sweeps"; }
    std::string operator()(const SetLayerGroups&) const { return "Change groups of layers"; }
    std::string operator()(const AddTower& e) const { return "Add tower " + e.tower.network.name; }
    std::string operator()(const RemoveTower&) const { return "Remove tower"; }
    std::string operator()(const SetLosses&) const { return "Change losses"; }
    std::string operator()(const SetTopology& e) const { return "Set topology " + e.topology.preset; }
    std::string operator()(const AddShortcut& e) const { return "Add shortcut " + textOf(e.shortcut); }
    std::string operator()(const RemoveShortcut& e) const { return "Remove shortcut " + textOf(e.shortcut); }
    std::string operator()(const SetShortcutState& e) const
    {
        const char* verb = !e.state                             ? "Release"
                           : *e.state == ShortcutState::Frozen  ? "Freeze"
                           : *e.state == ShortcutState::Learned ? "Learn the weight of"
                                                                : "Prune";
        const bool isHeld = e.state && e.state->hold != ShortcutState::Hold::Beginning;
        return std::string(verb) + " shortcut " + textOf(e.shortcut) + (isHeld ? ", " + spoken(*e.state) : "");
    }
    std::string operator()(const SetStack&) const { return "Change stack"; }
    std::string operator()(const PutBlock& e) const { return "Put block " + e.block.name; }
    std::string operator()(const RemoveBlock& e) const { return "Remove block " + e.name; }
    std::string operator()(const RenameBlock& e) const { return "Rename block " + e.from + " to " + e.to; }
    std::string operator()(const AddNode& e) const { return "Add node " + e.node.name; }
    std::string operator()(const RemoveNode& e) const { return "Remove node from " + placeOf(e.graph); }
    std::string operator()(const RenameNode& e) const { return "Rename node to " + e.name; }
    std::string operator()(const SetParam& e) const { return (e.value ? "Set " : "Reset ") + e.param; }
    std::string operator()(const AddWire&) const { return "Add wire"; }
    std::string operator()(const RemoveWire&) const { return "Remove wire"; }
    std::string operator()(const SetGraph& e) const { return "Change " + placeOf(e.graph); }
    std::string operator()(const MoveNode& e) const { return e.position ? "Move node" : "Lay out node"; }
    std::string operator()(const EditGroup& e) const
    {
        if (!e.title.empty() || e.edits.empty()) {
            return e.title;
        }
        return titleOf(e.edits.front());
    }
};

} // namespace

std::string titleOf(const Edit& edit)
{
    return std::visit(Titler{}, edit);
}

} // namespace residua::projects
