// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit/edit.h"
#include "projects/model/project.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

// Edits of whole layers. Shortcuts, groups and always-kept layers behind the place keep to their layers.
namespace residua::projects {

/// Layers out of a stack with the shortcuts between them, to be put somewhere else; or shortcuts alone.
struct StackFragment {
    std::vector<Block> blocks;       ///< that the layers are made of
    std::vector<StackSegment> stack; ///< empty: shortcuts alone
    /// Shortcuts between the layers from module to module (modulesOf), numbered from 1; without layers, as the document
    /// numbers them. A source is the last module that its entry holds (lastModuleIn).
    std::vector<Shortcut> shortcuts;
    std::map<Shortcut, ShortcutState> states;

    [[nodiscard]] bool empty() const { return stack.empty() && shortcuts.empty(); }
};

/// Layers 1..L of `layers`; where there are none, `shortcuts` that are read or pruned.
[[nodiscard]] StackFragment fragmentOf(const Project& project, const std::set<std::int64_t>& layers,
                                       const std::set<Shortcut>& shortcuts);

/// Puts the fragment's layers behind layer `after` (0: first). Where the sources are an explicit set they bring
/// their shortcuts, and one that reads nothing reads the layer before it.
[[nodiscard]] Edit insertLayersEdit(const Document& document, std::int64_t after, const StackFragment& fragment);
/// nullopt where none of `layers` is in the stack.
[[nodiscard]] std::optional<Edit> removeLayersEdit(const Document& document, const std::set<std::int64_t>& layers);

/// Names the run from the first to the last of `layers`, in place of a group of just that run.
[[nodiscard]] std::optional<Edit> groupEdit(const Document& document, const std::set<std::int64_t>& layers,
                                            const std::string& name);
/// Puts `changed` in the place of group `at` of all `groups`. Refused without a name.
[[nodiscard]] Result<Edit> changeGroupEdit(std::vector<LayerGroup> groups, std::size_t at, LayerGroup changed);
/// Takes the name from every group that has one of `layers`.
[[nodiscard]] std::optional<Edit> ungroupEdit(const Document& document, const std::set<std::int64_t>& layers);

/// The names of the blocks that the layers are made of, layer by layer.
[[nodiscard]] std::vector<std::string> blocksOfLayers(const std::vector<StackSegment>& stack);
/// The stack in which these layers (1..depth) are made of `block`.
[[nodiscard]] SetStack stackWith(const Network& network, const std::vector<std::int64_t>& layers,
                                 const std::string& block);

/// Edits that remove the blocks which layers use now and none would use in `stack`, as far as they are still as a
/// preset has them: the palette brings those back. They belong in a group after the edit that sets the stack.
[[nodiscard]] std::vector<Edit> removeUnused(const Network& network, const std::vector<StackSegment>& stack);

/// "name", or "name2" and so on where a block of the network has that name already.
[[nodiscard]] std::string freeBlockName(const Network& network, const std::string& name);

} // namespace residua::projects
