// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/edit/edit.h"

#include "projects/model/places.h"
#include "projects/model/text_forms.h"
#include "projects/schema/describe_project.h"

namespace residua::projects {

namespace {

struct Titler {
    std::string operator()(const SetName& e) const { return "Rename project to " + e.name; }
    std::string operator()(const SetDescription&) const { return "Change description"; }
    std::string operator()(const SetData&) const { return "Change data"; }
    std::string operator()(const SetInitialisation&) const { return "Change initialisation"; }
    std::string operator()(const SetTraining&) const { return "Change training"; }
    std::string operator()(const SetSchedule&) const { return "Change stage schedule"; }
    std::string operator()(const SetSeeds&) const { return "Change seeds"; }
    std::string operator()(const SetSweeps&) const { return "Change sweeps"; }
    std::string operator()(const SetLayerGroups&) const { return "Change groups of layers"; }
    std::string operator()(const SetTopology& e) const { return "Set topology " + e.topology.preset; }
    std::string operator()(const AddShortcut& e) const { return "Add shortcut " + textOf(e.shortcut); }
    std::string operator()(const RemoveShortcut& e) const { return "Remove shortcut " + textOf(e.shortcut); }
    std::string operator()(const SetShortcutState& e) const
    {
        const char* verb = !e.state ? "Release" : *e.state == ShortcutState::Frozen ? "Freeze" : "Prune";
        return std::string(verb) + " shortcut " + textOf(e.shortcut);
    }
    std::string operator()(const SetWidth& e) const { return "Set width to " + std::to_string(e.width); }
    std::string operator()(const SetObjective&) const { return "Change objective"; }
    std::string operator()(const SetTieHead& e) const { return e.tie ? "Tie head to embedding" : "Untie head"; }
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
