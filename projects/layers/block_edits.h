// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit/edit.h"
#include "projects/file/block_file.h"
#include "projects/model/project.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Edits that bring blocks into a project: from a preset, a library, or the block canvas.
namespace residua::projects {

/// The block preset of that name as a block called like it; nullopt where there is none.
[[nodiscard]] std::optional<Block> presetBlock(const std::string& name);

/// Makes `layers` (1..depth) of a block, which is called `title` in the edit's own title. The project's own copy of it
/// serves where there is one that was not rewired; else it is added, under a name that is free. Blocks of presets that
/// no layer uses any more go.
[[nodiscard]] Edit makeLayersOf(const Network& network, const std::vector<std::int64_t>& layers, BlockFile block,
                                const std::string& title);

/// Adds the block under its name, with the places of its nodes, or replaces the one of that name; with `layer`, that
/// layer is made of it.
[[nodiscard]] Edit saveBlockEdit(const Network& network, const BlockFile& block, std::optional<std::int64_t> layer);

} // namespace residua::projects
