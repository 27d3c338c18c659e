// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/check/validate.h"
#include "projects/layers/shortcut_edits.h"
#include "projects/model/project.h"
#include "projects/model/topology.h"

#include <optional>
#include <string>
#include <vector>

namespace residua::projects {

/// The cost of adding `shortcut`, one figure per line, or the reason why it cannot be added. `sound` is the same
/// project if its network has no errors; without it there are no figures.
struct CostLines {
    std::vector<std::string> lines;
    bool possible = false;
};
[[nodiscard]] CostLines costLines(const Project& project, const std::optional<SoundProject>& sound,
                                  const Shortcut& shortcut);

/// The effect that drawing a shortcut would have on the wiring.
struct ShortcutCheck {
    bool possible = false;               ///< true if it may be drawn
    std::optional<Adding> adding = {};   ///< nullopt if it does not go forward in depth
    std::vector<std::string> costs = {}; ///< costLines() of a new shortcut
};
/// `sound` as for costLines().
[[nodiscard]] ShortcutCheck checkShortcut(const Project& project, const std::optional<SoundProject>& sound,
                                          const Shortcut& shortcut);

/// Returns the additional cost of `after` over `before` in one line; empty if it is unknown.
[[nodiscard]] std::string costOfChange(const Project& before, const Project& after);

} // namespace residua::projects
