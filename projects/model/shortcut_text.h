// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/topology.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace residua::projects {

/// Parses shortcuts joined by "+": "0:2" is one shortcut, "i:i+3" is all that span three layers, "cascaded" is "i:i+1".
/// L is the last layer: "0:L-1". Layers are 0 (the input) to `depth`. The result is sorted and unique. The error has no
/// place; its message lists the accepted forms.
[[nodiscard]] Result<std::vector<Shortcut>> shortcutsFrom(std::string_view text, std::int64_t depth);

} // namespace residua::projects
