// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/depth/depth_names.h"
#include "projects/edit/edit.h"
#include "projects/model/project.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

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

/// The source of a parameter that another document's parameter gives its values to, whole or by rows.
struct CarriedRows {
    std::string from;               ///< the other document's parameter
    std::vector<std::int64_t> rows; ///< its index along `dimension` of each own one; −1: none. Empty: the whole tensor
    std::int64_t dimension = 0;

    bool operator==(const CarriedRows&) const = default;
};

/// Returns the sources of the parameters of `after`'s wiring in the network of `before`, by name. A row of a shortcut
/// comes from the same shortcut, that of a module from the same module, where new layer l is the old layer layers[l −
/// 1], and a row of a visit from the same visit of the loop that the layers were in. Parameters without a source are
/// absent, and so are all except those of loops if the wirings are of different kinds or act at different sites. Shapes
/// may differ in other dimensions.
[[nodiscard]] std::map<std::string, CarriedRows> carriedRows(const Project& before, const Project& after,
                                                             const std::vector<std::int64_t>& layers);

/// An edit that changes the wiring, with notes on its other changes.
struct Rewiring {
    EditGroup edit;                 ///< its title includes the notes
    std::vector<std::string> notes; ///< "mlp reads q, k and v", "a schedule leaves out layers"
};

/// Wires the depth by a preset and gives the layers' blocks the ports that it feeds: separate q, k and v (and
/// residual), or one input. A preset with a schedule sets that too. Any other preset removes such a schedule if it is
/// unchanged. The notes list the changed blocks and other changes.
[[nodiscard]] Rewiring wireAs(const Project& project, const TopologyPreset& preset);

/// Returns the index of the preset that the project's topology comes from: the one with its name, or a preset with a
/// schedule if wiring and schedule are the preset's.
[[nodiscard]] std::optional<std::size_t> presetIndexOf(const Project& project, std::span<const TopologyPreset> presets);

/// Returns the edits that give the layers' blocks these ports (withPortsApart, withPortsJoined), one for each block
/// that changes. Blocks that cannot have them are unchanged.
[[nodiscard]] std::vector<Edit> portEdits(const Project& project, MixPorts ports);

} // namespace residua::projects
