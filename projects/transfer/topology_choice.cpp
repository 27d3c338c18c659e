// SPDX-License-Identifier: GPL-3.0-or-later

#include "projects/base/text.h"
#include "projects/library/schedule_presets.h"
#include "projects/transfer/retrofit.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

namespace residua::projects {
namespace {

std::string nameOf(MixPorts ports)
{
    return ports == MixPorts::Input ? "one input" : ports == MixPorts::Qkv ? "q, k and v" : "q, k, v and residual";
}

/// True if wiring and schedule are those of the preset, which has a schedule.
bool isAsSet(const Project& project, const TopologyPreset& preset)
{
    const auto schedule = scheduleBeside(preset, project.network.depth(), project.training.steps);
    return schedule && project.stack().topology == Topology{kPlainPreset, preset.wiring} &&
           project.stack().schedule == *schedule;
}

/// Returns the preset's wiring for the edited blocks, which determine the sites where it acts.
Wiring wiringFor(Network network, const std::vector<Edit>& edits, const TopologyPreset& preset)
{
    for (const Edit& edit : edits) {
        const Block& block = std::get<PutBlock>(edit).block;
        if (Block* const known = network.findBlock(block.name)) {
            *known = block;
        }
    }
    const std::vector<TopologyPreset> presets = topologyChoices(network);
    const auto found = std::ranges::find(presets, preset.name, &TopologyPreset::name);
    return found == presets.end() ? preset.wiring : found->wiring;
}

} // namespace

std::vector<Edit> portEdits(const Project& project, MixPorts ports)
{
    std::vector<Edit> edits;
    for (const Block& block : project.network.blocks) {
        if (std::ranges::find(project.stack().segments, block.name, &StackSegment::block) ==
            project.stack().segments.end()) {
            continue;
        }
        const Result<Block> fitted =
            ports == MixPorts::Input ? Result<Block>(withPortsJoined(block)) : withPortsApart(block, ports);
        if (fitted && *fitted != block) {
            edits.emplace_back(PutBlock{*fitted});
        }
    }
    return edits;
}

Rewiring wireAs(const Project& project, const TopologyPreset& preset)
{
    const auto* const mix = std::get_if<DepthMix>(&preset.wiring);
    const MixPorts ports = mix != nullptr ? mix->ports : MixPorts::Input;
    Rewiring made{{"Wire as " + preset.title, portEdits(project, ports)}, {}};
    std::vector<Edit>& edits = made.edit.edits;
    const auto blockOf = [](const Edit& edit) { return std::get<PutBlock>(edit).block.name; };
    if (!edits.empty()) {
        made.notes.push_back(joinedText(edits, ", ", blockOf) + (edits.size() == 1 ? " reads " : " read ") +
                             nameOf(ports));
    }
    const auto schedule = scheduleBeside(preset, project.network.depth(), project.training.steps);
    edits.emplace_back(SetTopology{{schedule ? kPlainPreset : preset.name, wiringFor(project.network, edits, preset)}});
    const std::vector<TopologyPreset> presets = topologyChoices(project.network);
    const auto before = presetIndexOf(project, presets);
    if (schedule) {
        edits.emplace_back(SetSchedule{*schedule});
        made.notes.emplace_back("a schedule leaves out layers");
    } else if (before && !presets[*before].schedule.empty()) {
        edits.emplace_back(SetSchedule{});
        made.notes.emplace_back("every layer trains again");
    }
    for (const std::string& note : made.notes) {
        made.edit.title += "; " + note;
    }
    return made;
}

std::optional<std::size_t> presetIndexOf(const Project& project, std::span<const TopologyPreset> presets)
{
    const auto asSet = std::ranges::find_if(presets, [&](const auto& preset) { return isAsSet(project, preset); });
    const auto found = asSet == presets.end()
                           ? std::ranges::find(presets, project.stack().topology.preset, &TopologyPreset::name)
                           : asSet;
    return found == presets.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - presets.begin()));
}

} // namespace residua::projects
