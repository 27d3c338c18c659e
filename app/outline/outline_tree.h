// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/properties/property.h"
#include "engine/api/values.h"
#include "projects/project.h"

#include <QString>

#include <optional>
#include <string>
#include <vector>

namespace residua::app {

/// One row of the outline, as a value.
struct OutlineRow {
    std::string key; ///< unique among its siblings and stable while the row means the same thing
    QString name;
    QString value;
    QString toolTip;
    QString icon;
    Place place;
    std::optional<Property> property;           ///< what editing the value changes
    std::optional<projects::Shortcut> shortcut; ///< of a shortcut's row: where live weights go
    std::vector<OutlineRow> children;
};

/// The whole document as rows: what the canvas shows, and everything else that can be set.
[[nodiscard]] std::vector<OutlineRow> outlineOf(const projects::Project& project,
                                                const std::vector<engine::RunInfo>& runs);

} // namespace residua::app
