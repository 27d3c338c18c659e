// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "projects/base/result.h"

#include <c10/core/Device.h>

#include <cstdint>
#include <string>
#include <vector>

namespace residua::kernels {
struct CudaKernels;
}

namespace residua::engine {

/// The CPU, then every GPU; a GPU that cannot be used comes with the reason. Without a usable driver there is one entry
/// "cuda:0" that says what is missing. Engine thread.
[[nodiscard]] std::vector<DeviceInfo> listDevices();

/// Sets how many threads the CPU computes with; 0 leaves the number unchanged. Returns how many it now computes with.
/// To be called on the engine thread, for which the number counts.
int useThreads(int count);

/// The device that a key names, with its backend loaded. Errors say what is missing and how to get it.
[[nodiscard]] Result<c10::Device> openDevice(const std::string& key);

struct DeviceMemory {
    std::int64_t freeBytes = 0;
    std::int64_t totalBytes = 0;
    std::int64_t othersBytes = 0; ///< of a GPU: used by other programs, or by the driver for this one
};
/// What a run could take now. On the CPU: what the kernel and the control group leave. On a GPU: with what our own
/// allocator keeps from earlier runs. Throws if CUDA does not answer.
[[nodiscard]] DeviceMemory memoryOf(c10::Device device);

/// Highest memory use in bytes: the allocator's since resetPeakBytes on a GPU, the process's resident set on the CPU.
[[nodiscard]] std::int64_t peakBytes(c10::Device device);
void resetPeakBytes(c10::Device device);

/// Waits until everything enqueued on the device is done; returns at once on the CPU.
void synchronise(c10::Device device);

/// Our CUDA kernels; null where the library is missing or does not fit, and `why` says which. Loaded once.
/// Looked for where RESIDUA_KERNELS points, beside the program, in ../lib/residua and in the build tree.
[[nodiscard]] const kernels::CudaKernels* cudaKernels(std::string& why);

} // namespace residua::engine
