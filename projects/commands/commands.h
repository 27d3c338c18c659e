// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/check/validate.h"
#include "projects/commands/selection.h"
#include "projects/diff/diff.h"
#include "projects/edit/edit.h"
#include "projects/graphs/node_places.h"
#include "projects/layers/layer_edits.h"
#include "projects/model/data_source.h"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// Edits that remove a problem.
namespace residua::projects {

/// The result of a command on a document.
struct DocumentChange {
    Edit edit;
    std::optional<Selection> selection = {}; ///< the selection after the edit; nullopt: unchanged
};

// The commands that menus, keys, the outline and the canvases run on the selection. A command is a function of the
// document and the selection. The error gives the reason why it has no effect. If the selection names a graph, the
// command applies to its nodes and wires (partOfGraph), otherwise to layers and shortcuts (partOfStack). `seen` is the
// view of that graph.

/// Removes nodes and wires from their graph, or prunes shortcuts, or removes layers if no shortcut is selected. In a
/// running sum no shortcut can be pruned, because it is drawn as a stream.
[[nodiscard]] Result<DocumentChange> deleteSelection(const Document& document, const Selection& selection,
                                                     const GraphView& seen = {});
/// Adds shortcuts as described by addingOf() (shortcut_edits.h), and selects them.
[[nodiscard]] Result<DocumentChange> addShortcuts(const Document& document, const std::set<Shortcut>& shortcuts);
/// Prunes only shortcuts, even in a running sum, whose terms the matrix shows.
[[nodiscard]] Result<DocumentChange> pruneShortcuts(const Document& document, const Selection& selection);
/// Freezes the selected shortcuts at `values`, or unfreezes them if all are frozen (freezeEdit).
[[nodiscard]] Result<DocumentChange> toggleFrozen(const Document& document, const Selection& selection,
                                                  const std::map<Shortcut, ShortcutState>& values = {});
/// Freezes the selected shortcuts at the numbers that a new run starts from.
[[nodiscard]] Result<DocumentChange> freezeAtStart(const Document& document, const Selection& selection);

/// Sets the state of the selected shortcuts; nullopt removes it. Prunes as deleteSelection() and freezes as
/// toggleFrozen() do.
[[nodiscard]] Result<DocumentChange> setShortcutState(const Project& project, const Selection& selection,
                                                      std::optional<ShortcutState> state);

/// Returns the selection as text for the system's clipboard; empty if nothing is selected.
[[nodiscard]] std::string copied(const Document& document, const Selection& selection, const GraphView& seen = {});
/// Pastes the text of copied(), from this or another window.
[[nodiscard]] Result<DocumentChange> paste(const Document& document, const Selection& selection, std::string_view text,
                                           const GraphView& seen = {});
/// Adds a copy of the selection beside it.
[[nodiscard]] Result<DocumentChange> duplicateSelection(const Document& document, const Selection& selection,
                                                        const GraphView& seen = {});

/// Removes every group that contains a selected layer. Groups are named by typing (typing.h).
[[nodiscard]] Result<DocumentChange> ungroupLayers(const Document& document, const Selection& selection);

/// Visits the stored layers from the first to the last selected one `visits` times: makes a loop of them, or changes
/// the visits of the loop that they are in. A loop with all of its layers selected is widened to the selected ones.
/// Selects all visits. Returns an error if the loop would overlap another one.
[[nodiscard]] Result<DocumentChange> visitLayers(const Document& document, const Selection& selection,
                                                 std::int64_t visits);
/// Removes the loops of the selected layers. Their layers stay and are executed once.
[[nodiscard]] Result<DocumentChange> visitLayersOnce(const Document& document, const Selection& selection);
/// Returns the loop that contains all selected layers; null if there is none.
[[nodiscard]] const Loop* loopOfSelection(const Project& project, const Selection& selection);
/// Returns `edit`, or an edit in its place if it sets a field of a loop or, in a stack with loops, the repeat of a
/// segment. After that edit, shortcuts, groups and always-kept layers have the same visits as before, and loops the
/// same layers (loopsEdit, repeatEdit).
[[nodiscard]] Edit keepingNumbers(const Document& document, Edit edit);

/// Returns the edit that makes `tokeniser` the tokeniser of the project's text. Returns an error if its data is not
/// text.
[[nodiscard]] Result<Edit> useTokeniser(const Project& project, const Tokeniser& tokeniser);

/// Returns the edit that adds a text at each path to the document's mixture, with the mean of the existing weights, or
/// 1. The document's data must be `mixture`.
[[nodiscard]] Edit addMixtureParts(const MixtureData& mixture, const std::vector<std::string>& paths);
/// Returns the edit that removes the part at `index`.
[[nodiscard]] Edit removeMixturePart(const MixtureData& mixture, std::size_t index);

// Layers and shortcuts on the system's clipboard. The text is a project with only them, so that it can be pasted into
// another window, an editor or a file, and is checked like a file.

/// Formats the fragment; empty if the fragment is empty.
[[nodiscard]] std::string toClipboard(const StackFragment& fragment);
[[nodiscard]] Result<StackFragment> fromClipboard(std::string_view text);

/// Returns the edit that pastes the fragment. Layers are inserted after the last selected one, or at the end. The first
/// source of the shortcuts becomes the first selected layer; if none is selected, they keep their numbers. Shortcuts
/// that do not fit are skipped. The error gives the reason why nothing can be added.
[[nodiscard]] Result<Edit> pasteEdit(const Document& document, const Selection& selection,
                                     const StackFragment& fragment);

/// An edit after which a problem is gone, and the title of its button: "Set 4 heads".
struct Cure {
    std::string title;
    Edit edit;
};

/// Returns a cure of a problem. It has been tried on a copy of the project: the problem is gone and there are no more
/// errors than before. Returns nullopt if no cure is known.
[[nodiscard]] std::optional<Cure> cureOf(const Project& project, const Problem& problem);
/// Returns the cures of the first `most` of `problems`, which must be all problems of validate(project). A cure of
/// several problems is tried once.
[[nodiscard]] std::vector<std::optional<Cure>> curesOf(const Project& project, const std::vector<Problem>& problems,
                                                       std::size_t most);

/// A setting that differs between a document and another project, with the edit that gives the document the other's.
struct SettingChange {
    std::string pointer;         ///< "/training/learning_rate/peak"; "/network" for all that its graphs differ in
    std::vector<Change> changes; ///< from the document to the other project, at least one
    Edit edit;
};

/// Returns the settings of `wanted` that decide the training and differ from the document's: fields one by one,
/// alternatives and lists as a whole, all graphs together, the topology as a whole. Every edit applies to the document
/// as it is. All of them, in this order, leave no difference that decides the training.
[[nodiscard]] std::vector<SettingChange> settingsThatDiffer(const Document& document, const Project& wanted);

/// Returns these edits as one. `changes` is not empty.
[[nodiscard]] Edit editOf(std::string title, const std::vector<SettingChange>& changes);

/// True if a run can go on with this setting otherwise: its weights and the state of its optimiser keep their meaning.
[[nodiscard]] bool canChangeInRun(std::string_view pointer);

} // namespace residua::projects
