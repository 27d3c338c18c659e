// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/graph/pass.h"

#include <ATen/core/Tensor.h>

#include <functional>
#include <span>
#include <vector>

namespace residua::engine {

/// A function of tensors that can be run again: the same inputs and random numbers give the same bits.
using Rerun = std::function<std::vector<at::Tensor>(std::span<const at::Tensor>)>;

/// run(inputs), of which nothing but the inputs is kept: the backward runs it again, from the random state that it had
/// where training draws numbers, and leaves that state as it finds it. `parameters` are all other tensors whose
/// gradients `run` leads to. Equal tensors among the inputs stay equal when it runs again.
[[nodiscard]] std::vector<at::Tensor> runRecomputed(Rerun run, std::span<const at::Tensor> inputs,
                                                    std::span<const at::Tensor> parameters, const Pass& pass);

} // namespace residua::engine
