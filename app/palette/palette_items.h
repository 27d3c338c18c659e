// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/properties/place.h"
#include "projects/base/result.h"
#include "projects/commands/commands.h"
#include "projects/cost/cost.h"
#include "projects/file/store.h"

#include <QString>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace residua::app {

enum class PaletteKind { Topology, Block, Node };

/// An item that can be added to a project.
struct PaletteItem {
    PaletteKind kind{};
    std::string key; ///< of the preset or the node kind
    QString title;
    QString summary;                             ///< one line
    QString source;                              ///< the paper; may be empty
    std::optional<projects::BlockFile> own = {}; ///< the block itself unless it is a preset
    bool operator==(const PaletteItem&) const = default;
};

struct PaletteGroup {
    QString title;
    std::vector<PaletteItem> items;
    bool operator==(const PaletteGroup&) const = default;
};

/// Returns topology presets, block presets, then the node kinds by category.
[[nodiscard]] std::vector<PaletteGroup> paletteGroups();

/// Returns the project's blocks, and those of the user's library; only non-empty groups.
[[nodiscard]] std::vector<PaletteGroup> ownBlockGroups(const projects::Project& project,
                                                       const std::vector<projects::BlockFile>& library);

/// Returns the edit that applies the item, and the selection after it: a topology for the whole stack, a block for the
/// selected layers (else for all), a node in the selected graph. The error says what to select.
[[nodiscard]] Result<projects::DocumentChange> takeUp(const projects::Project& project, const Place& selection,
                                                      const PaletteItem& item);

/// Returns the document's cost after the item is applied to the view of tower `shown`, or an error if it is unknown.
[[nodiscard]] Result<projects::Cost> costWith(const projects::Project& view, const Place& selection,
                                              const PaletteItem& item, std::size_t shown);

} // namespace residua::app
