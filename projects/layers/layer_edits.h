// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit/edit.h"
#include "projects/file/store.h"
#include "projects/model/project.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace residua::projects {

// Edits of whole layers and of loops. Layers are executed ones (Stack); an edit of one visit acts on the stored layer.
// Shortcuts, groups and always-kept layers after the place are renumbered with their layers.

/// Layers of a stack with the shortcuts between them, to be inserted elsewhere; or only shortcuts.
struct StackFragment {
    std::vector<Block> blocks;       ///< blocks of the layers
    std::vector<StackSegment> stack; ///< empty if there are only shortcuts
    /// Shortcuts between modules of the layers (modulesOf), numbered from 1. Without layers, numbered as in the
    /// document. A source is the last module of its entry (lastModuleIn).
    std::vector<Shortcut> shortcuts;
    std::map<Shortcut, ShortcutState> states;
    std::vector<Loop> loops = {}; ///< those that visit only these layers

    [[nodiscard]] bool empty() const { return stack.empty() && shortcuts.empty(); }
};

/// Returns the given layers in 1..L as a fragment; if there are none, the given shortcuts that are read or pruned.
[[nodiscard]] StackFragment fragmentOf(const Project& project, const std::set<std::int64_t>& layers,
                                       const std::set<Shortcut>& shortcuts);

/// Inserts the fragment's layers after layer `after` (0: first). If the sources are an explicit set, the fragment's
/// shortcuts are added, and a layer without sources reads the layer before it.
[[nodiscard]] Edit insertLayersEdit(const Document& document, std::int64_t after, const StackFragment& fragment);
/// Returns nullopt if none of `layers` is in the stack.
[[nodiscard]] std::optional<Edit> removeLayersEdit(const Document& document, const std::set<std::int64_t>& layers);

/// Gives the stack these loops. Visits that exist before and after keep their shortcuts.
[[nodiscard]] Edit loopsEdit(const Document& document, std::vector<Loop> loops, const std::string& title);
/// Returns the edit that gives the stack the loops of `changed`, in their order, or the repeat of one of its segments.
/// Shortcuts, groups and always-kept layers keep their visits, and with another repeat loops keep their layers
/// (repeatEdit). Returns nullopt if `changed` differs in anything else, or has another repeat without loops.
[[nodiscard]] std::optional<Edit> restackEdit(const Document& document, const Stack& changed, const std::string& title);

/// Gives segment `index` of the stack `repeat` layers, and appends or removes them at its end. Loops that reach its end
/// keep doing so.
[[nodiscard]] Edit repeatEdit(const Document& document, std::size_t index, std::int64_t repeat,
                              const std::string& title);

/// Names the range from the first to the last of `layers`. Replaces a group with exactly that range.
[[nodiscard]] std::optional<Edit> groupEdit(const Document& document, const std::set<std::int64_t>& layers,
                                            const std::string& name);
/// Replaces group `at` of `groups` by `changed`. Returns an error if the name is empty.
[[nodiscard]] Result<Edit> changeGroupEdit(std::vector<LayerGroup> groups, std::size_t at, LayerGroup changed);
/// Removes every group that contains one of `layers`.
[[nodiscard]] std::optional<Edit> ungroupEdit(const Document& document, const std::set<std::int64_t>& layers);

/// Returns the names of the layers' blocks, layer by layer.
[[nodiscard]] std::vector<std::string> blocksOfLayers(const std::vector<StackSegment>& stack);
/// Returns the segments of layers with these blocks.
[[nodiscard]] std::vector<StackSegment> segmentsOf(const std::vector<std::string>& blocks);
/// Returns the number of stored layer `layer` when `count` layers more follow layer `after`. The number of an invalid
/// document that is too large for that stays.
[[nodiscard]] std::int64_t movedLayer(std::int64_t layer, std::int64_t after, std::int64_t count);
/// Returns the stack in which these layers (1..depth) are made of `block`.
[[nodiscard]] SetStack stackWith(const Network& network, const std::vector<std::int64_t>& layers,
                                 const std::string& block);

/// Returns edits that remove the unmodified blocks of presets that the layers use now but would not use in `stack`. The
/// palette can add them again. They must follow the edit that sets the stack in a group.
[[nodiscard]] std::vector<Edit> removeUnused(const Network& network, const std::vector<StackSegment>& stack);

/// Returns `name`, or "name2" and so on if the network has a block with that name.
[[nodiscard]] std::string freeBlockName(const Network& network, const std::string& name);

// Edits that add blocks to a project: from a preset, a library, or the block canvas.

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
