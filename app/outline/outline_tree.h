// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/properties/property.h"
#include "engine/base/api/values.h"
#include "projects/edit/edit.h"
#include "projects/edit/history.h"

#include <QString>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace residua::app {

/// The document that the rows are made of. Rows below a row are made on demand.
using DocumentSnapshot = projects::DocumentSnapshot;

/// One row of the outline, as a value.
struct OutlineRow {
    std::string key; ///< unique among its siblings and stable while the row has the same meaning
    QString name;
    QString value;
    QString toolTip;
    QString icon;
    Place place;
    std::optional<Property> property;                  ///< changed by editing the value
    std::optional<projects::Shortcut> shortcut;        ///< for a shortcut's row, where live weights are shown
    std::function<std::vector<OutlineRow>()> children; ///< makes the rows below it, at least one; empty: none
};

/// Returns the whole document as rows: everything on the canvas, and all other settings.
/// `document` is the view of tower `shown`.
[[nodiscard]] std::vector<OutlineRow> outlineOf(const DocumentSnapshot& document,
                                                const std::vector<engine::RunInfo>& runs, std::size_t shown = 0);

/// Returns the keys from a top row down to the row of `place`; empty if it has no row.
[[nodiscard]] std::vector<std::string> outlinePath(const projects::Document& document, const Place& place);

} // namespace residua::app
