// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/training_plan.h"

#include <ATen/core/Tensor.h>

namespace residua::engine {

/// Type of the network's parameters and of vector inputs. Under bf16 both stay fp32: the network rounds what flows in
/// it.
[[nodiscard]] at::ScalarType parameterType(projects::Precision precision);

/// Sets the process's choice of algorithms; cheap enough for every step.
void applyDeterminism(projects::Determinism determinism);

/// Restarts the device's and the host's random numbers for one step (RandomStreams::generatorSeed), so that a resumed
/// run draws what the uninterrupted one drew, whatever else ran in between.
void seedGenerators(c10::Device device, std::uint64_t seed);

} // namespace residua::engine
