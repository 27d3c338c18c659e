// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/training_plan.h"

#include <ATen/core/Tensor.h>

namespace residua::engine {

/// Type of the network's parameters and of vector inputs. Under bf16 they stay fp32 and autocast picks the operations.
[[nodiscard]] at::ScalarType parameterType(projects::Precision precision);

/// Runs matrix products in bf16 while it lives, where the precision asks for it. Wrap the forward pass, not the backward.
class AutocastScope {
public:
    AutocastScope(projects::Precision precision, c10::DeviceType device);
    ~AutocastScope();
    AutocastScope(const AutocastScope&) = delete;
    AutocastScope& operator=(const AutocastScope&) = delete;

private:
    bool m_active = false;
    c10::DeviceType m_device;
};

/// Sets the process's choice of algorithms; cheap enough for every step.
void applyDeterminism(projects::Determinism determinism);

/// What must be set before anything of CUDA is: the workspace with which cuBLAS is deterministic.
void prepareEnvironment();

/// Restarts the device's random numbers for one step. They then depend on the seed and the step alone, so that a resumed run
/// draws what the uninterrupted one drew, whatever else ran in between.
void seedStep(c10::Device device, std::int64_t seed, std::int64_t step);

} // namespace residua::engine
