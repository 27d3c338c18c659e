// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/text.h"
#include "projects/model/graph.h"
#include "projects/model/topology.h"

#include <optional>
#include <string>
#include <string_view>

namespace residua::projects {

/// Private to projects: the short text forms of small values in files and messages.

[[nodiscard]] std::string textOf(NodeId id);             ///< "3"
[[nodiscard]] std::string textOf(const Shortcut& value); ///< "2:5"
[[nodiscard]] std::string textOf(const Wire& value);     ///< "3.out > 5.in"

/// Parse exactly the form that textOf() writes. Any other text gives nullopt.
[[nodiscard]] std::optional<NodeId> nodeIdFrom(std::string_view text);
[[nodiscard]] std::optional<Shortcut> shortcutFrom(std::string_view text);
[[nodiscard]] std::optional<Wire> wireFrom(std::string_view text);

} // namespace residua::projects
