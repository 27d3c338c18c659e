// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/topology.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace residua::projects {

/// Who a mix is for: the input ports of a layer, or the final output.
enum class MixPort : std::uint8_t {
    Input, ///< the layer's one mix, for all of its ports
    Query,
    Key,
    Value,
    Residual,
    Final, ///< the final output's one mix, beside layers that have several
};

/// The name of a block's port and of a recorded matrix: "", "q", "k", "v", "residual", "final".
[[nodiscard]] std::string_view nameOf(MixPort port);
[[nodiscard]] std::optional<MixPort> mixPortFrom(std::string_view name);
/// The ports of a layer that read a mix of their own, in the order of the mixes.
[[nodiscard]] std::vector<MixPort> portsOf(MixPorts ports);

} // namespace residua::projects
