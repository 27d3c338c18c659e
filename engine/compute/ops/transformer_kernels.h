// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Private to the sources of operators.h, which choose a kernel by the device.

#include "engine/compute/runtime/compute.h"
#include "kernels/dropout.h"
#include "kernels/sinkhorn.h"
#include "kernels/transformer.h"

#include <c10/core/Device.h>

#include <cstddef>

namespace residua::engine {

/// True if the kernels of transformer.h are used for tensors on `device`: on the CPU, unless the GPU paths are under
/// test, and on a GPU that runs the CUDA kernels.
[[nodiscard]] bool hasTransformerKernels(c10::Device device);

/// Run a kernel on `device`, which all pointers must refer to: on LibTorch's threads, or in the device's current
/// stream. Throw c10::Error if the kernel refuses or fails.
void runKernel(c10::Device device, const kernels::NormForward& norm);
void runKernel(c10::Device device, const kernels::NormBackward& norm);
void runKernel(c10::Device device, const kernels::SwigluForward& swiglu);
void runKernel(c10::Device device, const kernels::SwigluBackward& swiglu);
void runKernel(c10::Device device, const kernels::Rotary& rotary);
void runKernel(c10::Device device, const kernels::CrossEntropy& entropy);
void runKernel(c10::Device device, const kernels::Dropout& dropout);
/// On a GPU only.
void runKernel(c10::Device device, const kernels::SinkhornForward& sinkhorn);
void runKernel(c10::Device device, const kernels::SinkhornBackward& sinkhorn);

/// Returns the bytes of workspace that the backward of RMSNorm needs on `device`.
[[nodiscard]] std::size_t workspaceOf(c10::Device device, const kernels::NormBackward& norm);

} // namespace residua::engine
