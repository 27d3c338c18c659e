// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit/edit.h"
#include "projects/model/project.h"
#include "projects/model/topology.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

// The shortcuts of a wiring, and the edits that change them.
namespace residua::projects {

/// The drawing style of a shortcut.
enum class ShortcutKind {
    Stream, ///< an input without a weight, drawn as a step of a stream: the plain residual sum, or the newest entry of
            ///< a reader that passes it through
    Fixed,  ///< a weight that is not trained
    Learned,
    Frozen, ///< learned, but held at its value
    Pruned, ///< removed from a rule; shown so that it can be restored
};

struct DrawnShortcut {
    Shortcut shortcut;
    ShortcutKind kind = ShortcutKind::Learned;
};

/// Returns the shortcuts that are read and the pruned ones, ordered by target and source. A layer's input that is the
/// newest entry unchanged is a step of the stream. For a running sum, returns the steps of the stream and the learned
/// shortcuts.
[[nodiscard]] std::vector<DrawnShortcut> drawnShortcuts(const DepthMix& mix, std::int64_t depth);

/// The deepest stack whose shortcuts are listed one by one, in modules. More would not fit in memory.
inline constexpr std::int64_t kDeepestListed = 2048;

/// Tests whether a reader has a shortcut, or had it before it was pruned. A summed middle is found under its first
/// entry. Queries in the order of targets are fast, because the list of one target is reused.
class ShortcutLookup {
public:
    explicit ShortcutLookup(const Project& project);
    [[nodiscard]] bool operator()(const Shortcut& shortcut);

private:
    const DepthMix* m_mix;
    std::int64_t m_modules;
    std::int64_t m_target = 0;
    std::vector<std::int64_t> m_sources; ///< of the target
};

/// The effect of adding a shortcut to a wiring.
enum class Adding {
    Nothing, ///< it exists already
    New,
    Back,   ///< it was pruned
    Weight, ///< its fixed weight becomes a learned weight of its own
};
/// Returns the effect of adding `shortcut`, which must be within the stack of `modules` modules.
[[nodiscard]] Adding addingOf(const DepthMix& mix, const Shortcut& shortcut, std::int64_t modules);

/// Returns one edit that prunes all of `shortcuts`; nullopt if it is empty or the wiring has no shortcuts. In an
/// explicit set, a pruned shortcut is removed; in a rule (all, dilated …), it becomes an exception. A learned shortcut
/// of a running sum gets its fixed weight again.
[[nodiscard]] std::optional<Edit> pruneEdit(const Project& project, const std::vector<Shortcut>& shortcuts);
/// Returns one edit that adds them as addingOf() describes; nullopt if all exist already.
[[nodiscard]] std::optional<Edit> addEdit(const Project& project, const std::vector<Shortcut>& shortcuts);
/// Whether the summed middle, which no source represents, is still read.
enum class SummedMiddle { Kept, Dropped };
/// Returns one edit after which `target` reads exactly `sources`, each less than it, with weights of their own.
/// Shortcuts are pruned and added as in pruneEdit() and addEdit(). Returns nullopt if nothing changes or the wiring has
/// no shortcuts.
[[nodiscard]] std::optional<Edit> readsEdit(const Project& project, std::int64_t target,
                                            const std::set<std::int64_t>& sources,
                                            SummedMiddle middle = SummedMiddle::Kept);
/// Returns one edit that freezes them, or unfreezes them if all are frozen. `values` has the frozen states with values;
/// the others are held at the value that training begins with. With fixed weights, only learned shortcuts can be
/// frozen; without a value they get the fixed weight again.
[[nodiscard]] std::optional<Edit> freezeEdit(const Project& project, const std::vector<Shortcut>& shortcuts,
                                             const std::map<Shortcut, ShortcutState>& values = {});

} // namespace residua::projects
