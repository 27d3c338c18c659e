// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/commands/document_change.h"
#include "projects/graphs/node_places.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>

// What the menus, the keys, the outline and the canvases do to what is selected. A command is a function of the
// document and the selection; the error says why there is nothing to be done. A selection that names a graph means its
// nodes and wires (partOfGraph), any other layers and shortcuts (partOfStack). `seen` is how that graph is seen.
namespace residua::projects {

/// Takes nodes and wires out of their graph; prunes shortcuts; takes layers out where no shortcut is selected with
/// them. Of a running sum no shortcut can be pruned: it is drawn as a stream.
[[nodiscard]] Result<DocumentChange> deleteSelection(const Document& document, const Selection& selection,
                                                     const GraphView& seen = {});
/// Adds shortcuts as addingOf (shortcut_edits.h) says, and selects them.
[[nodiscard]] Result<DocumentChange> addShortcuts(const Document& document, const std::set<Shortcut>& shortcuts);
/// Prunes shortcuts alone, of a running sum too: the matrix shows its terms.
[[nodiscard]] Result<DocumentChange> pruneShortcuts(const Document& document, const Selection& selection);
/// Freezes the selected shortcuts, or thaws them where all are frozen.
[[nodiscard]] Result<DocumentChange> toggleFrozen(const Document& document, const Selection& selection);

/// Makes the selected shortcuts what `state` says; nullopt: like the rest. They are pruned as deleteSelection() does
/// it, and frozen as toggleFrozen().
[[nodiscard]] Result<DocumentChange> setShortcutState(const Project& project, const Selection& selection,
                                                      std::optional<ShortcutState> state);

/// The selection as text for the system's clipboard; empty where nothing is selected.
[[nodiscard]] std::string copied(const Document& document, const Selection& selection, const GraphView& seen = {});
/// Adds what copied() gave, here or in another window.
[[nodiscard]] Result<DocumentChange> paste(const Document& document, const Selection& selection, std::string_view text,
                                           const GraphView& seen = {});
/// Adds a copy of the selection beside it.
[[nodiscard]] Result<DocumentChange> duplicateSelection(const Document& document, const Selection& selection,
                                                        const GraphView& seen = {});

/// Takes the name from every group that has one of the selected layers. They are named by typing (typing.h).
[[nodiscard]] Result<DocumentChange> ungroupLayers(const Document& document, const Selection& selection);

} // namespace residua::projects
