// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit/edit.h"
#include "projects/file/block_file.h"
#include "projects/model/project.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Edits that add blocks to a project: from a preset, a library, or the block canvas.
namespace residua::projects {

/// Returns the preset's block under the preset's name; nullopt if there is no such preset.
[[nodiscard]] std::optional<Block> presetBlock(const std::string& name);

/// Makes `layers` (1..depth) of a block; the edit's title calls it `title`. Uses the project's copy of the block if it
/// has an unmodified one, else adds the block under a free name. Removes blocks of presets that no layer uses any more.
[[nodiscard]] Edit makeLayersOf(const Network& network, const std::vector<std::int64_t>& layers, BlockFile block,
                                const std::string& title);

/// Adds the block with the positions of its nodes under its name, or replaces the block with this name. If `layer` is
/// given, that layer is made of it.
[[nodiscard]] Edit saveBlockEdit(const Network& network, const BlockFile& block, std::optional<std::int64_t> layer);

} // namespace residua::projects
