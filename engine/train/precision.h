// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/training_plan.h"

#include <ATen/core/Tensor.h>

namespace residua::engine {

/// Returns the type of the network's parameters and of vector inputs. Under bf16 both are fp32; the network rounds the
/// values between its nodes.
[[nodiscard]] at::ScalarType parameterType(projects::Precision precision);

/// Sets the process's choice of algorithms; cheap enough to call for every step.
void applyDeterminism(projects::Determinism determinism);

/// Restarts the random generators of the device and the host for one step (RandomStreams::generatorSeed), so that a
/// resumed run draws the same numbers as an uninterrupted one, whatever else ran in between.
void seedGenerators(c10::Device device, std::uint64_t seed);

} // namespace residua::engine
