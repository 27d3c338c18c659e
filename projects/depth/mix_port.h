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
/// Which of a layer's `mixes`, which are for these ports, feeds `port`: its own; where there is one mix, that; a
/// residual without a mix of its own is the query's. nullopt where none does.
[[nodiscard]] std::optional<std::size_t> mixFor(std::span<const MixPort> mixes, MixPort port);
/// Which of a block's input ports, by name, the residual arrives at: residual, else q, whose mix it is then, else the
/// first.
[[nodiscard]] std::size_t residualPort(std::span<const std::string> ports);

} // namespace residua::projects
