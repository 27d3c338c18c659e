// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernels/cuda_kernels.h"
#include "kernels/types.h"
#include "projects/base/result.h"
#include "projects/model/training_plan.h"

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <string>

namespace residua::engine {

/// Where a network computes and in which types. Parameters, mixing weights, norms' statistics and the loss are in
/// `parameterType`; what flows between the nodes is in `activationType`; what is carried from layer to layer (sums,
/// stack entries, streams) is in `residualType`, whatever the wiring.
struct Compute {
    at::Device device{at::kCPU};
    at::ScalarType parameterType = at::kFloat;
    at::ScalarType activationType = at::kFloat;
    at::ScalarType residualType = at::kFloat;
    const kernels::CudaKernels* cuda = nullptr; ///< null on the CPU, and on a GPU without our kernels
    std::string withoutKernels;                 ///< why `cuda` is null on a GPU, in one line; else empty

    /// `device` is "cpu" or "cuda:N"; the error says why it cannot be used.
    [[nodiscard]] static Result<Compute>
    create(const std::string& device, projects::Precision precision,
           projects::ResidualPrecision residual = projects::ResidualPrecision::Fp32);
};

/// LibTorch's own thread pool as the kernels' parallel-for, so that there is one pool and one thread count.
[[nodiscard]] kernels::Parallel torchThreads();

/// The kernels' name of an element type; throws c10::Error for one that they do not have.
[[nodiscard]] kernels::DataType kernelType(at::ScalarType type);

/// Throws c10::Error unless `status` is ok. `table` is the library that returned it, null for the CPU's kernels: CUDA's
/// own text is added if the launch failed. Refused arguments are a mistake of ours, never of the document.
void checkKernel(kernels::Status status, const char* kernel, const kernels::CudaKernels* table = nullptr);

/// Why the kernels of `table` do not run on a GPU, in one line; empty if they do. Launches the smallest mix: CUDA says
/// only then that a library has no code for the GPU. Throws if the GPU has no memory.
[[nodiscard]] std::string launchProblem(const kernels::CudaKernels& table, at::Device device);

/// Our CUDA kernels on a GPU.
struct DeviceKernels {
    const kernels::CudaKernels* table = nullptr; ///< null where they are not installed or do not run
    std::string why;                             ///< `table` is null, in one line; empty on the CPU
};
/// The kernels for a device: found and tried once for each GPU; no table on the CPU. Any thread.
[[nodiscard]] const DeviceKernels& kernelsOn(at::Device device);

/// The current stream of a CUDA device as the kernels take it.
[[nodiscard]] void* currentStream(at::Device device);

} // namespace residua::engine
