// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/runtime/scaled_products.h"
#include "kernels/cuda_kernels.h"
#include "kernels/types.h"
#include "projects/base/result.h"
#include "projects/model/training_plan.h"

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <cstddef>
#include <memory>
#include <string>

namespace residua::engine {

class RoundedWeights;

/// The order in which a sum adds the halves a and f of a layer's branch to the residual x.
enum class SumOrder {
    ByHalf,   ///< (x + a) + f, as transformers does
    ByBranch, ///< x + (a + f), in runs before ReadingVersion::Third
};

/// The device and the types that a network computes with. Parameters, mixing weights, norms' statistics and the loss
/// are in `parameterType`; values between nodes are in `activationType`; values passed from layer to layer (sums, stack
/// entries, streams) are in `residualType` (projects::carriedPrecision).
struct Compute {
    at::Device device{at::kCPU};
    at::ScalarType parameterType = at::kFloat;
    at::ScalarType activationType = at::kFloat;
    at::ScalarType residualType = at::kFloat;
    Products products = Products::Own; ///< of linear layers
    SumOrder sums = SumOrder::ByHalf;
    const kernels::CudaKernels* cuda = nullptr; ///< null on the CPU, and on a GPU without the custom kernels
    std::string withoutKernels;                 ///< why `cuda` is null on a GPU, in one line; else empty
    std::shared_ptr<RoundedWeights> rounded;    ///< of the network's parameters; null unless activations are bfloat16

    /// `device` is "cpu" or "cuda:N". The error says why it cannot be used, or cannot compute in the precision.
    [[nodiscard]] static Result<Compute>
    create(const std::string& device, projects::Precision precision,
           projects::ResidualPrecision residual = projects::ResidualPrecision::Fp32);
};

/// Returns LibTorch's thread pool as the kernels' parallel-for, so that there is one pool and one thread count.
[[nodiscard]] kernels::Parallel torchThreads();

/// Returns the kernels' name of an element type; throws c10::Error for an unsupported type.
[[nodiscard]] kernels::DataType kernelType(at::ScalarType type);

/// Throws c10::Error unless `status` is ok. `table` is the library that returned it, null for the CPU kernels; if a
/// launch failed, adds CUDA's own text. Refused arguments are a bug in this program, never an error in a document.
void checkKernel(kernels::Status status, const char* kernel, const kernels::CudaKernels* table = nullptr);

/// Returns why the kernels of `table` do not run on a GPU, in one line; empty if they do. Launches the smallest mix,
/// because CUDA reports a library without code for the GPU only at a launch. Throws if the GPU has no memory.
[[nodiscard]] std::string launchProblem(const kernels::CudaKernels& table, at::Device device);

/// The custom CUDA kernels on a GPU.
struct DeviceKernels {
    const kernels::CudaKernels* table = nullptr; ///< null if they are not installed or do not run
    std::string why;                             ///< why `table` is null, in one line; empty on the CPU
};
/// Returns the kernels for a device. They are loaded and tried once for each GPU; `table` is null on the CPU. Any
/// thread.
[[nodiscard]] const DeviceKernels& kernelsOn(at::Device device);

/// Returns the current stream of a CUDA device, in the kernels' type.
[[nodiscard]] void* currentStream(at::Device device);

/// An allocator that keeps the memory of freed host tensors for the next step. Each step frees and allocates hundreds
/// of megabytes in the same sizes, and new pages would cost as much as its arithmetic on small layers. Large blocks use
/// huge pages if the system has them.
///
/// Installs it as LibTorch's CPU allocator for the rest of the process, unless the environment variable
/// RESIDUA_KEEP_MEMORY is 0. Further calls do nothing. Any thread.
void keepHostMemory();

/// The bytes that are kept and in use, counting only blocks large enough to be kept.
struct HostMemoryUse {
    std::size_t kept = 0;
    std::size_t used = 0;
};
[[nodiscard]] HostMemoryUse hostMemoryUse();

} // namespace residua::engine
