// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/palette/palette_items.h"
#include "app/properties/place.h"

#include <string>

namespace residua::app {

/// Returns the word for the explanation of `place`, known to resources::findTopic(); empty if there is none.
[[nodiscard]] std::string helpWordOf(const projects::Project& project, const Place& place);
/// Returns the word for the explanation of a palette item.
[[nodiscard]] std::string helpWordOf(const PaletteItem& item);

} // namespace residua::app
