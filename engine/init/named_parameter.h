// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// Whether weight decay applies (mixing weights, norms and biases are kept out).
enum class Decay { No, Yes };

/// The equal slices of a parameter that are of one head each, or of one part of an MLP, and run with it (PartUse).
struct PartSlices {
    enum class Of { Heads, MlpParts } of = Of::Heads;
    std::int64_t dimension = 0; ///< that is cut
    std::int64_t count = 0;     ///< of heads; of MLP parts the pass says how many there are
    std::uint64_t node = 0;     ///< tells the nodes of a layer apart (keptParts)
};

/// One trained tensor. Names are stable and say where: "stem.embed.weight",
/// "layers.3.attn.q.weight", "topology.coefficient".
struct NamedParameter {
    std::string name;
    at::Tensor tensor; ///< leaf that requires grad
    Decay decay = Decay::Yes;
    /// Elements that keep their values in training, by bools of a shape that expands to the tensor's; undefined: none.
    at::Tensor held;
    std::optional<PartSlices> slices; ///< none: it is no part's, or runs whole with the layer
    bool writesResidual = false;      ///< a matrix of a layer whose output is added to the residual
};

/// How many numbers they are.
[[nodiscard]] inline std::int64_t countOf(const std::vector<NamedParameter>& parameters)
{
    std::int64_t count = 0;
    for (const NamedParameter& parameter : parameters) {
        count += parameter.tensor.numel();
    }
    return count;
}

} // namespace residua::engine
