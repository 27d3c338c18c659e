// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/palette/palette_items.h"
#include "app/properties/place.h"

#include <string>

namespace residua::app {

/// The word under which the help explains what stands at `place` (resources::findTopic knows it); empty where it
/// explains nothing.
[[nodiscard]] std::string helpWordOf(const projects::Project& project, const Place& place);
/// The word under which the help explains a palette item.
[[nodiscard]] std::string helpWordOf(const PaletteItem& item);

} // namespace residua::app
