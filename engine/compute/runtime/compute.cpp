// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/runtime/compute.h"

#include "engine/base/machine/failure.h"
#include "engine/compute/runtime/cuda_backend.h"
#include "engine/compute/runtime/device.h"
#include "engine/compute/runtime/host_memory.h"
#include "engine/compute/runtime/rounded_weights.h"

#include <ATen/Parallel.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>

#include <map>
#include <mutex>

namespace residua::engine {
namespace {

void runOnTorchThreads(void*, std::int64_t count, std::int64_t grain, kernels::Parallel::Body body, void* state)
{
    at::parallel_for(0, count, grain, [&](std::int64_t begin, std::int64_t end) { body(state, begin, end); });
}

} // namespace

std::string launchProblem(const kernels::CudaKernels& table, at::Device device)
{
    const c10::DeviceGuard current(device);
    const c10::DataPtr memory = c10::getDeviceAllocator(device.type())->allocate(3 * sizeof(float));
    float* const numbers = static_cast<float*>(memory.get());
    const void* const source = numbers;
    kernels::MixForward mix;
    mix.stack.tokens = 1;
    mix.stack.width = 1;
    mix.stack.sources = 1;
    mix.stack.outputs = 1;
    mix.stack.source = &source;
    mix.stack.weightKind = kernels::WeightKind::scalar;
    mix.stack.weights = numbers + 1;
    mix.out[0] = numbers + 2;
    const kernels::Status status = table.mixForward(mix, currentStream(device));
    if (status == kernels::Status::ok) {
        return {};
    }
    const bool byCuda = status == kernels::Status::deviceFailure;
    const std::string error = byCuda ? table.lastError() : kernels::describe(status);
    // A lack of memory is the run's own failure; its first tensor reports it.
    return failureOf(error, {}).kind == Failure::Kind::OutOfMemory
               ? std::string()
               : "they do not run on this GPU (" + error + "): build them for it (CMAKE_CUDA_ARCHITECTURES)";
}

Result<Compute> Compute::create(const std::string& device, projects::Precision precision,
                                projects::ResidualPrecision residual)
{
    static_cast<void>(loadCudaBackend()); // before the first backward, even one on the CPU
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
    compute.activationType = compute.parameterType;
    if (precision == projects::Precision::Bf16) {
        compute.activationType = at::kBFloat16;
        compute.rounded = std::make_shared<RoundedWeights>();
    }
    compute.residualType =
        residual == projects::ResidualPrecision::Bf16 ? compute.activationType : compute.parameterType;
    if (compute.device.is_cuda()) {
        // Not an error: without these kernels, LibTorch's operators compute the same.
        const DeviceKernels& own = kernelsOn(compute.device);
        compute.cuda = own.table;
        compute.withoutKernels = own.why;
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

const DeviceKernels& kernelsOn(at::Device device)
{
    static std::mutex mutex;
    static std::map<at::DeviceIndex, DeviceKernels> kernels;
    static const DeviceKernels kNone;
    if (!device.is_cuda()) {
        return kNone;
    }
    const std::lock_guard lock(mutex);
    const auto known = kernels.find(device.index());
    if (known != kernels.end()) {
        return known->second;
    }
    DeviceKernels own;
    own.table = cudaKernels(own.why);
    if (own.table != nullptr) {
        own.why = launchProblem(*own.table, device);
    }
    if (!own.why.empty()) {
        own.table = nullptr;
    }
    return kernels.emplace(device.index(), own).first->second;
}

void* currentStream(at::Device device)
{
    return c10::impl::VirtualGuardImpl(at::kCUDA).getStream(device).native_handle();
}

} // namespace residua::engine
