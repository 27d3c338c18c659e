// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/properties/property.h"
#include "engine/api/values.h"
#include "projects/edit/edit.h"
#include "projects/edit/history.h"

#include <QString>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace residua::app {

/// The document that rows are made of: those below a row are made when they are asked for.
using DocumentSnapshot = projects::DocumentSnapshot;

/// One row of the outline, as a value.
struct OutlineRow {
    std::string key; ///< unique among its siblings and stable while the row means the same thing
    QString name;
    QString value;
    QString toolTip;
    QString icon;
    Place place;
    std::optional<Property> property;                  ///< what editing the value changes
    std::optional<projects::Shortcut> shortcut;        ///< of a shortcut's row: where live weights go
    std::function<std::vector<OutlineRow>()> children; ///< those below it, at least one; empty: none
};

/// The whole document as rows: what the canvas shows, and everything else that can be set.
[[nodiscard]] std::vector<OutlineRow> outlineOf(const DocumentSnapshot& document,
                                                const std::vector<engine::RunInfo>& runs);

/// The keys from a top row down to the one that stands for `place`; empty where none does.
[[nodiscard]] std::vector<std::string> outlinePath(const projects::Document& document, const Place& place);

} // namespace residua::app
