// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/project.h"

#include <cstdint>
#include <optional>

namespace residua::projects {

/// Whether a network of `layers` layers that is wired by `wiring` starts as the plain residual network of the same
/// weights.
[[nodiscard]] bool startsAsPlain(const Wiring& wiring, std::int64_t layers);
/// Why a network of `layers` layers that is wired by `wiring` does not start as the plain residual network of the same
/// weights, and which presets do; nullopt where it does. Up to rounding: entries may be summed in another order.
[[nodiscard]] std::optional<Error> departureFromPlain(const Wiring& wiring, std::int64_t layers);

/// Why no weights of another topology compute what `own` does, whatever it has learned; nullopt where its layers may
/// read sums with weights that do not depend on the input (projects/depth/unrolled_depth.h).
[[nodiscard]] std::optional<Error> departureFromSums(const Topology& own);
/// The reason where a mix has learned gates: no weights of another topology compute what they do.
[[nodiscard]] Error departureByGates(const Topology& own);
/// The error which says that no weights of `other` give the sums that a run's own topology has learned.
[[nodiscard]] Error cannotGiveSums(const Topology& other);

/// The block with its attention's q, k and v (and the residual) read from ports of their own, as DeepCrossAttention's
/// figure 4 draws it: the norm before them keeps its name and is shared. Fed the same, it computes the same. Blocks
/// that have the ports stay as they are. An error where q, k and v do not come from the input by one norm, or directly.
[[nodiscard]] Result<Block> withPortsApart(const Block& block, MixPorts ports);

/// The block with one input in place of ports q, k, v and residual: what withPortsApart made of a block becomes that
/// block again. Norms that share the weights of another, and then read the same, go. Other blocks stay as they are.
[[nodiscard]] Block withPortsJoined(const Block& block);

/// The project with its depth wired by `topology`, every block that it feeds apart opened. Weights keep their names.
[[nodiscard]] Result<Project> rewired(const Project& project, const Topology& topology);

} // namespace residua::projects
