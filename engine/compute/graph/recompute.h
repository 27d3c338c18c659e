// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Apart from graph_program.h, because it repeats any function of tensors.

#include "engine/compute/graph/pass.h"

#include <ATen/core/Tensor.h>

#include <functional>
#include <span>
#include <vector>

namespace residua::engine {

enum class RunOf {
    Forward,
    Backward, ///< a repetition, which must not change buffers again
};
/// A function of tensors that can be repeated: equal inputs and random numbers give equal bits.
using Rerun = std::function<std::vector<at::Tensor>(std::span<const at::Tensor>, RunOf)>;

/// Returns run(inputs) and keeps only the inputs. The backward runs it again; in training it does so from the random
/// state of the first run, and then restores the current state. `parameters` are all other tensors that `run` has
/// gradients for. Equal tensors among the inputs are equal in the second run too.
[[nodiscard]] std::vector<at::Tensor> runRecomputed(Rerun run, std::span<const at::Tensor> inputs,
                                                    std::span<const at::Tensor> parameters, const Pass& pass);

} // namespace residua::engine
