// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit/edit.h"
#include "projects/model/project.h"
#include "projects/model/topology.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

// Which shortcuts a wiring has, and the edits that change them.
namespace residua::projects {

/// How a shortcut is drawn.
enum class ShortcutKind {
    Stream, ///< what arrives without a weight, drawn as one step of a stream: the plain residual sum, or the newest
            ///< entry where the reader takes that as it is
    Fixed,  ///< a weight that is not trained
    Learned,
    Frozen, ///< learned, held at its value
    Pruned, ///< taken out of a wider set; shown so that it can come back
};

struct DrawnShortcut {
    Shortcut shortcut;
    ShortcutKind kind = ShortcutKind::Learned;
};

/// The shortcuts that are read, and the pruned ones, ordered by target and source; of a layer's input that is the
/// newest entry as it is, a step of the stream. For a running sum: the steps of the stream, and the learned shortcuts.
[[nodiscard]] std::vector<DrawnShortcut> drawnShortcuts(const DepthMix& mix, std::int64_t depth);

/// Modules of the deepest stack whose shortcuts are listed one by one for people: more would not fit the memory.
inline constexpr std::int64_t kDeepestListed = 2048;

/// Tells of shortcuts whether a reader has them, or had them before they were pruned; a summed middle is there under
/// its first entry. Asked target by target, it answers for thousands at the price of one list for each target.
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

/// What adding a shortcut does to a wiring.
enum class Adding {
    Nothing, ///< it is there already
    New,
    Back,   ///< it was pruned
    Weight, ///< its weight is fixed, and becomes one of its own that is learned
};
/// What adding `shortcut`, which lies within the stack of so many modules, would do.
[[nodiscard]] Adding addingOf(const DepthMix& mix, const Shortcut& shortcut, std::int64_t modules);

/// One edit that prunes all of `shortcuts`; nullopt where there are none or the wiring has no shortcuts. In an explicit
/// set a pruned shortcut is taken out; in a rule (all, dilated …) it is an exception to it. Of a running sum a learned
/// one goes back to its fixed weight.
[[nodiscard]] std::optional<Edit> pruneEdit(const Project& project, const std::vector<Shortcut>& shortcuts);
/// One edit that adds them as addingOf says; nullopt where all are there already.
[[nodiscard]] std::optional<Edit> addEdit(const Project& project, const std::vector<Shortcut>& shortcuts);
/// Whether the sum of the middle, which no source stands for, goes on being read.
enum class SummedMiddle { Kept, Dropped };
/// One edit after which `target` reads just `sources`, each less than it, by weights of their own: shortcuts are pruned
/// and added as pruneEdit and addEdit do. nullopt where it reads them already, or the wiring has no shortcuts.
[[nodiscard]] std::optional<Edit> readsEdit(const Project& project, std::int64_t target,
                                            const std::set<std::int64_t>& sources,
                                            SummedMiddle middle = SummedMiddle::Kept);
/// One edit that freezes them, or thaws them if all are frozen. Under fixed weights only learned ones can be frozen:
/// their weight is the fixed one again.
[[nodiscard]] std::optional<Edit> freezeEdit(const Project& project, const std::vector<Shortcut>& shortcuts);

} // namespace residua::projects
