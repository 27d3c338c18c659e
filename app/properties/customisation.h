// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/diff/diff.h"
#include "projects/edit/edit.h"

#include <QString>

#include <optional>
#include <vector>

namespace residua::app {

/// How a project's wiring differs from the preset that it came from.
struct Customisation {
    projects::TopologyPreset preset;
    std::vector<projects::Change> changes; ///< from the preset to the project; places without "topology"
    projects::Edit goBack;                 ///< the one edit that undoes all of it, with blocks that fit (wireAs)

    [[nodiscard]] QString title() const;
};

/// "Custom, from DCA": of a wiring that came from a preset with this title and is not any more.
[[nodiscard]] QString customTitle(const QString& preset);

/// The preset that the wiring came from and is not any more; nullopt where it still is, or where no preset has its
/// name. Unlike the changes it takes no comparison of documents.
[[nodiscard]] std::optional<projects::TopologyPreset> customisedPreset(const projects::Project& project);

/// nullopt where the wiring is the preset's own, or where no preset has its name.
[[nodiscard]] std::optional<Customisation> customisationOf(const projects::Project& project);

} // namespace residua::app
