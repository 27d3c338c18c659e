// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runtime/compute.h"

#include "engine/runtime/device.h"
#include "engine/runtime/host_memory.h"

#include <ATen/Parallel.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>

namespace residua::engine {
namespace {

void runOnTorchThreads(void*, std::int64_t count, std::int64_t grain, kernels::Parallel::Body body, void* state)
{
    at::parallel_for(0, count, grain, [&](std::int64_t begin, std::int64_t end) { body(state, begin, end); });
}

} // namespace

Result<Compute> Compute::create(const std::string& device, projects::Precision precision,
                                projects::ResidualPrecision residual)
{
    const Result<at::Device> opened = openDevice(device);
    if (!opened) {
        return opened.error();
    }
    keepHostMemory();
    Compute compute;
    compute.device = *opened;
    if (precision == projects::Precision::Fp64) {
        compute.parameterType = at::kDouble;
    }
    compute.activationType = precision == projects::Precision::Bf16 ? at::kBFloat16 : compute.parameterType;
    compute.residualType =
        residual == projects::ResidualPrecision::Bf16 ? compute.activationType : compute.parameterType;
    if (compute.device.is_cuda()) {
        // Not an error: without our kernels, LibTorch's operators compute the same.
        compute.cuda = cudaKernels(compute.withoutKernels);
    }
    return compute;
}

kernels::Parallel torchThreads()
{
    return {&runOnTorchThreads, nullptr};
}

kernels::DataType kernelType(at::ScalarType type)
{
    switch (type) {
    case at::kFloat:
        return kernels::DataType::float32;
    case at::kBFloat16:
        return kernels::DataType::bfloat16;
    case at::kDouble:
        return kernels::DataType::float64;
    default:
        break;
    }
    TORCH_CHECK(false, "no kernel for element type ", type);
}

void checkKernel(kernels::Status status, const char* kernel, const kernels::CudaKernels* table)
{
    const bool byCuda = status == kernels::Status::deviceFailure && table != nullptr;
    TORCH_CHECK(status == kernels::Status::ok, kernel, ": ",
                byCuda ? std::string("CUDA error: ") + table->lastError() : kernels::describe(status));
}

void* currentStream(at::Device device)
{
    return c10::impl::VirtualGuardImpl(at::kCUDA).getStream(device).native_handle();
}

} // namespace residua::engine
