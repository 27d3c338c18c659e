// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/base/text.h"
#include "projects/model/graph.h"
#include "projects/model/topology.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// Private to projects: the short text forms of small values in files and messages.

[[nodiscard]] std::string textOf(NodeId id);             ///< "3"
[[nodiscard]] std::string textOf(const Shortcut& value); ///< "2:5"
[[nodiscard]] std::string textOf(const Wire& value);     ///< "3.out > 5.in"

/// Parse exactly the form that textOf() writes. Any other text gives nullopt.
[[nodiscard]] std::optional<NodeId> nodeIdFrom(std::string_view text);
[[nodiscard]] std::optional<Shortcut> shortcutFrom(std::string_view text);
[[nodiscard]] std::optional<Wire> wireFrom(std::string_view text);

/// Parses shortcuts joined by "+": "0:2" is one shortcut, "i:i+3" is all that span three layers, "cascaded" is "i:i+1".
/// L is the last layer: "0:L-1". Layers are 0 (the input) to `depth`. The result is sorted and unique. The error has no
/// place; its message lists the accepted forms.
[[nodiscard]] Result<std::vector<Shortcut>> shortcutsFrom(std::string_view text, std::int64_t depth);

} // namespace residua::projects
