// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/topology.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace residua::projects {

/// Shortcuts as people type them, joined by "+": "0:2" is one, "i:i+3" all that span three layers, "cascaded" is
/// "i:i+1". L stands for the last layer: "0:L-1". For layers 0 (the input) to `depth`.
/// Sorted, each once. The error, without a place, says what is expected.
[[nodiscard]] Result<std::vector<Shortcut>> shortcutsFrom(std::string_view text, std::int64_t depth);

} // namespace residua::projects
