// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/check/sound_project.h"
#include "projects/edit/edit.h"
#include "projects/model/project.h"
#include "projects/model/topology.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// What depth canvas and matrix know in common about shortcuts: which there are, and which edits change them.
namespace residua::editor {

/// How a shortcut is drawn.
enum class ShortcutKind {
    Stream, ///< the plain residual sum, drawn as one step of the stream
    Fixed,  ///< a weight that is not trained
    Learned,
    Frozen, ///< learned, held at its value
    Pruned, ///< taken out of a wider set; shown so that it can come back
};

struct DrawnShortcut {
    projects::Shortcut shortcut;
    ShortcutKind kind = ShortcutKind::Learned;
};

/// All that are read, and the pruned ones, ordered by target and source. Never Stream.
[[nodiscard]] std::vector<DrawnShortcut> drawnShortcuts(const projects::DepthMix& mix, std::int64_t depth);

/// The name that live weights give the final output's mix where the layers have several.
inline constexpr const char* kFinalPort = "final";
/// Ports of a layer that read a mix of their own: one without a name, or q, k, v, residual.
[[nodiscard]] std::vector<std::string> portsOf(const projects::Topology& topology);

/// K, what i and j of i:j number from 1: the layers, or both halves of each (projects::mixedModules).
[[nodiscard]] std::int64_t modulesOf(const projects::Project& project);
/// Layers with modules of their own in the order of the stack: 1, or 2 where both halves have one.
[[nodiscard]] std::int64_t modulesPerLayer(const projects::Project& project);
/// "0" for the stack's input, "3" for layer 3, "3a" and "3f" for its attention and its FFN where both are modules,
/// "out" for the final output.
[[nodiscard]] std::string moduleName(const projects::Project& project, std::int64_t module);

/// "3:7".
[[nodiscard]] std::string nameOf(const projects::Shortcut& shortcut);

/// One edit for all of `shortcuts`; nullopt where there are none or the wiring has no shortcuts. In an explicit set a
/// pruned shortcut is taken out; in a rule (all, dilated …) it is an exception to it.
[[nodiscard]] std::optional<projects::Edit> pruneEdit(const projects::Project& project,
                                                      const std::vector<projects::Shortcut>& shortcuts);
/// Adds them, or brings them back where they were pruned.
[[nodiscard]] std::optional<projects::Edit> addEdit(const projects::Project& project,
                                                    const std::vector<projects::Shortcut>& shortcuts);
/// Freezes them, or thaws them if all are frozen.
[[nodiscard]] std::optional<projects::Edit> freezeEdit(const projects::Project& project,
                                                       const std::vector<projects::Shortcut>& shortcuts);

/// What adding `shortcut` costs, a figure a line, as far as `sound`, the same project, is there to tell; or why it
/// cannot be added.
struct CostLines {
    std::vector<std::string> lines;
    bool possible = false;
};
[[nodiscard]] CostLines costLines(const projects::Project& project, const std::optional<projects::SoundProject>& sound,
                                  const projects::Shortcut& shortcut);

/// What `after` costs more than `before`, in one line; empty where that cannot be known.
[[nodiscard]] std::string costOfChange(const projects::Project& before, const projects::Project& after);

} // namespace residua::editor
