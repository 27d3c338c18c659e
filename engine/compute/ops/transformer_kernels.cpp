// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/ops/transformer_kernels.h"

#include "engine/compute/runtime/host_path.h"

#include <c10/core/DeviceGuard.h>
#include <c10/util/Exception.h>

namespace residua::engine {
namespace {

using kernels::CudaKernels;
using kernels::Status;

const CudaKernels& tableOn(c10::Device device)
{
    const DeviceKernels& own = kernelsOn(device);
    TORCH_CHECK(own.table != nullptr, "no CUDA kernels: ", own.why);
    return *own.table;
}

template <class Call>
void runOnGpu(const char* name, c10::Device device, const Call& call,
              Status (*CudaKernels::*kernel)(const Call&, void*))
{
    const CudaKernels& table = tableOn(device);
    const c10::DeviceGuard current(device); // kernels run on the current device
    checkKernel((table.*kernel)(call, currentStream(device)), name, &table);
}

template <class Call>
void run(const char* name, c10::Device device, const Call& call, Status (*onCpu)(const Call&, const kernels::Parallel&),
         Status (*CudaKernels::*onGpu)(const Call&, void*))
{
    if (device.is_cpu()) {
        checkKernel(onCpu(call, torchThreads()), name);
    } else {
        runOnGpu(name, device, call, onGpu);
    }
}

} // namespace

bool hasTransformerKernels(c10::Device device)
{
    return takesHostPath(device) || kernelsOn(device).table != nullptr;
}

void runKernel(c10::Device device, const kernels::NormForward& norm)
{
    run("normForward", device, norm, kernels::normForward, &CudaKernels::normForward);
}

void runKernel(c10::Device device, const kernels::NormBackward& norm)
{
    run("normBackward", device, norm, kernels::normBackward, &CudaKernels::normBackward);
}

void runKernel(c10::Device device, const kernels::SwigluForward& swiglu)
{
    run("swigluForward", device, swiglu, kernels::swigluForward, &CudaKernels::swigluForward);
}

void runKernel(c10::Device device, const kernels::SwigluBackward& swiglu)
{
    run("swigluBackward", device, swiglu, kernels::swigluBackward, &CudaKernels::swigluBackward);
}

void runKernel(c10::Device device, const kernels::Rotary& rotary)
{
    run("rotary", device, rotary, kernels::rotary, &CudaKernels::rotary);
}

void runKernel(c10::Device device, const kernels::CrossEntropy& entropy)
{
    run("crossEntropy", device, entropy, kernels::crossEntropy, &CudaKernels::crossEntropy);
}

void runKernel(c10::Device device, const kernels::Dropout& dropout)
{
    run("dropout", device, dropout, kernels::dropout, &CudaKernels::dropout);
}

void runKernel(c10::Device device, const kernels::SinkhornForward& sinkhorn)
{
    runOnGpu("sinkhornForward", device, sinkhorn, &CudaKernels::sinkhornForward);
}

void runKernel(c10::Device device, const kernels::SinkhornBackward& sinkhorn)
{
    runOnGpu("sinkhornBackward", device, sinkhorn, &CudaKernels::sinkhornBackward);
}

std::size_t workspaceOf(c10::Device device, const kernels::NormBackward& norm)
{
    return device.is_cpu() ? kernels::normBackwardWorkspace(norm) : tableOn(device).normBackwardWorkspace(norm);
}

} // namespace residua::engine
