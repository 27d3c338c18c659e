// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Apart from topology_properties.h, because outline and window show it without properties.

#include "projects/diff/diff.h"
#include "projects/edit/edit.h"

#include <QString>

#include <optional>
#include <vector>

namespace residua::app {

/// The differences of a project's wiring from its preset.
struct Customisation {
    projects::TopologyPreset preset;
    std::vector<projects::Change> changes; ///< from the preset to the project; places without "topology"
    projects::Edit goBack;                 ///< the edit that restores the preset, with fitting blocks (wireAs)

    [[nodiscard]] QString title() const;
};

/// Returns "Custom, from DCA" for a changed wiring of the preset with this title.
[[nodiscard]] QString customTitle(const QString& preset);

/// Returns the preset of a wiring that has been changed. Returns nullopt if it equals the preset, or if no preset has
/// its name. Faster than the changes, because it does not compare documents.
[[nodiscard]] std::optional<projects::TopologyPreset> customisedPreset(const projects::Project& project);

/// Returns nullopt if the wiring equals the preset's, or if no preset has its name.
[[nodiscard]] std::optional<Customisation> customisationOf(const projects::Project& project);

} // namespace residua::app
