// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/topology.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// The reader of a mix: the input ports of a layer, or the final output.
enum class MixPort : std::uint8_t {
    Input, ///< the single mix of a layer, for all of its ports
    Query,
    Key,
    Value,
    Residual,
    Final, ///< the final output's single mix, for layers with several mixes
};

/// Returns the name of a block's port and of a recorded matrix: "", "q", "k", "v", "residual", "final".
[[nodiscard]] std::string_view nameOf(MixPort port);
[[nodiscard]] std::optional<MixPort> mixPortFrom(std::string_view name);
/// Returns the ports of a layer that have separate mixes, in the order of the mixes.
[[nodiscard]] std::vector<MixPort> portsOf(MixPorts ports);
/// Returns the index in `mixes`, the ports of a layer's mixes, of the mix that feeds `port`: its own mix, or the only
/// mix. A residual port without a mix uses the query's. Returns nullopt if no mix feeds the port.
[[nodiscard]] std::optional<std::size_t> mixFor(std::span<const MixPort> mixes, MixPort port);
/// Returns the index of the block's input port that the residual enters: the port "residual" if there is one, else "q",
/// else the first port.
[[nodiscard]] std::size_t residualPort(std::span<const std::string> ports);

} // namespace residua::projects
