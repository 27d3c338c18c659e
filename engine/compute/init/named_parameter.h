// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/optimiser.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// Whether weight decay applies (mixing weights, norms and biases are kept out).
enum class Decay { No, Yes };

/// The equal slices of a parameter that belong to one head, or to one part of an MLP, each, and run with it (PartUse).
struct PartSlices {
    enum class Of { Heads, MlpParts } of = Of::Heads;
    std::int64_t dimension = 0; ///< the dimension that is divided
    std::int64_t count = 0;     ///< the number of heads; for MLP parts the pass defines the number
    std::uint64_t node = 0;     ///< distinguishes the nodes of a layer (keptParts)
};

/// One trained tensor, or a buffer of a node. Names are stable and show the location: "stem.embed.weight",
/// "layers.3.attn.q.weight", "topology.coefficient".
struct NamedParameter {
    std::string name;
    at::Tensor tensor; ///< a leaf that requires grad, unless it is a buffer or frozen
    Decay decay = Decay::Yes;
    /// True for elements that keep their values in training; expands to the tensor's shape. Undefined: none.
    at::Tensor held = {};
    std::optional<PartSlices> slices = {}; ///< nullopt if it belongs to no part, or runs whole with the layer
    /// True for a buffer: a tensor that passes of training change without a gradient, such as a running moment.
    bool isBuffer = false;
    bool isFrozen = false;       ///< true if no loss trains it
    bool writesResidual = false; ///< a matrix of a layer whose output is added to the residual
    projects::ParameterClass is = projects::ParameterClass::Matrix;
    std::optional<projects::MatrixForm> matrix = std::nullopt; ///< TrainedParameter::matrix
};

/// Returns the total number of elements, without those of buffers.
[[nodiscard]] inline std::int64_t countOf(const std::vector<NamedParameter>& parameters)
{
    std::int64_t count = 0;
    for (const NamedParameter& parameter : parameters) {
        count += parameter.isBuffer ? 0 : parameter.tensor.numel();
    }
    return count;
}

} // namespace residua::engine
