// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace residua::engine {

/// Whether weight decay applies (mixing weights, norms and biases are kept out).
enum class Decay { No, Yes };

/// One trained tensor. Names are stable and say where: "stem.embed.weight",
/// "layers.3.attn.q.weight", "topology.coefficient".
struct NamedParameter {
    std::string name;
    at::Tensor tensor; ///< leaf that requires grad
    Decay decay = Decay::Yes;
    /// Elements that keep their values in training, by bools of a shape that expands to the tensor's; undefined: none.
    at::Tensor held;
    bool writesResidual = false; ///< a matrix of a layer whose output is added to the residual
};

} // namespace residua::engine
