// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/depth/depth_names.h"
#include "projects/model/project.h"

#include <cstdint>
#include <optional>

namespace residua::projects {

/// True if a network of `layers` wired by `wiring` starts as the plain residual network with the same weights.
[[nodiscard]] bool startsAsPlain(const Wiring& wiring, const ExecutedLayers& layers);
/// Returns the reason why a network of `layers` wired by `wiring` does not start as the plain residual network
/// with the same weights, and the presets that do; nullopt if it does. Ignores rounding, because entries may be summed
/// in another order.
[[nodiscard]] std::optional<Error> departureFromPlain(const Wiring& wiring, const ExecutedLayers& layers);

/// Returns the reason why no weights of another topology can compute the function of `own`, whatever it has learned;
/// nullopt if its layers read sums with weights that do not depend on the input (projects/depth/unrolled_depth.h).
[[nodiscard]] std::optional<Error> departureFromSums(const Topology& own);
/// Returns the error for a mix with learned gates, whose function no weights of another topology compute.
[[nodiscard]] Error departureByGates(const Topology& own);
/// Returns the error that no weights of `other` give the sums that a run's own topology has learned.
[[nodiscard]] Error cannotGiveSums(const Topology& other);

/// Returns the reason why a new run of the project has no value for a shortcut that is frozen as learned; nullopt if
/// there is no such shortcut. A branch of a run takes the value of its checkpoint.
[[nodiscard]] std::optional<Error> missingCheckpoint(const Project& project);

/// Returns the block with separate input ports for its attention's q, k and v (and the residual), as in figure 4 of
/// DeepCrossAttention. The norm before them keeps its name and is shared. With equal inputs the function is the same.
/// Blocks that have the ports are unchanged. Returns an error if q, k and v do not come from the input through one norm
/// or directly.
[[nodiscard]] Result<Block> withPortsApart(const Block& block, MixPorts ports);

/// Returns the block with one input instead of the ports q, k, v and residual; the inverse of withPortsApart(). Removes
/// norms that share the weights of another norm and then read the same value. Other blocks are unchanged.
[[nodiscard]] Block withPortsJoined(const Block& block);

/// Returns the project wired by `topology`, with ports added to the blocks that it feeds separately. Weights keep their
/// names.
[[nodiscard]] Result<Project> rewired(const Project& project, const Topology& topology);

} // namespace residua::projects
