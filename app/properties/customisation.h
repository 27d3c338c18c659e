// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/diff.h"
#include "projects/edit.h"

#include <QString>

#include <optional>
#include <vector>

namespace residua::app {

/// How a project's wiring differs from the preset that it came from.
struct Customisation {
    projects::TopologyPreset preset;
    std::vector<projects::Change> changes; ///< from the preset to the project; places without "topology"

    [[nodiscard]] QString title() const; ///< "Custom, from DCA"
    /// The one edit that undoes all of it.
    [[nodiscard]] projects::Edit goBack() const;
};

/// nullopt where the wiring is the preset's own, or where no preset has its name.
[[nodiscard]] std::optional<Customisation> customisationOf(const projects::Project& project);

} // namespace residua::app
