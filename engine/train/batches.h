// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/dataset.h"
#include "engine/network/network.h"

#include <ATen/core/Tensor.h>

namespace residua::engine {

/// The batch as tensors: int64 [batch, time] tokens, or `real` [batch, inputs] and [batch, outputs]. On the CPU they
/// may view the batch's own memory, which must stay as it is until the backward pass is done.
[[nodiscard]] DeviceBatch upload(Batch& batch, const ExampleSchema& schema, c10::Device device, at::ScalarType real);

/// Tokens or samples in a batch.
[[nodiscard]] std::int64_t unitsIn(const Batch& batch, const ExampleSchema& schema);

} // namespace residua::engine
