// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/layers/layer_edits.h"

#include "projects/library/presets.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace residua::projects {
namespace {

void addBlock(std::vector<Edit>& edits, const BlockFile& file)
{
    edits.emplace_back(PutBlock{file.block});
    for (const auto& [node, position] : file.positions) {
        edits.emplace_back(MoveNode{GraphRef::block(file.block.name), node, position});
    }
}

/// Returns the name of the equal block of the project, preferring one with the same name; nullopt if there is none.
std::optional<std::string> sameBlock(const std::vector<Block>& blocks, const Block& block)
{
    std::optional<std::string> name;
    for (const Block& each : blocks) {
        const bool isSame = each.preset == block.preset && each.graph == block.graph;
        if (isSame && (!name || each.name == block.name)) {
            name = each.name;
        }
    }
    return name;
}

} // namespace

std::optional<Block> presetBlock(const std::string& name)
{
    const auto preset = std::ranges::find(blockPresets(), name, &BlockPreset::name);
    return preset == blockPresets().end() ? std::nullopt
                                          : std::optional(Block{preset->name, preset->name, preset->graph});
}

Edit makeLayersOf(const Network& network, const std::vector<std::int64_t>& layers, BlockFile block,
                  const std::string& title)
{
    EditGroup group{"Make layers of " + title, {}};
    std::optional<std::string> name = sameBlock(network.blocks, block.block);
    if (!name) {
        block.block.name = freeBlockName(network, block.block.name);
        name = block.block.name;
        addBlock(group.edits, block);
    }
    SetStack stack = stackWith(network, layers, *name);
    std::vector<Edit> unused = removeUnused(network, stack.stack);
    group.edits.emplace_back(std::move(stack));
    std::ranges::move(unused, std::back_inserter(group.edits));
    return group;
}

Edit saveBlockEdit(const Network& network, const BlockFile& block, std::optional<std::int64_t> layer)
{
    EditGroup group{"Save block " + block.block.name, {}};
    addBlock(group.edits, block);
    if (layer) {
        group.edits.emplace_back(stackWith(network, {*layer}, block.block.name));
    }
    return group;
}

} // namespace residua::projects
