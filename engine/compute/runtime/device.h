// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"
#include "projects/base/result.h"

#include <c10/core/Device.h>

#include <cstdint>
#include <string>
#include <vector>

namespace residua::kernels {
struct CudaKernels;
}

namespace residua::engine {

/// Returns the CPU and every GPU; an unusable GPU has the reason. Without a usable driver, there is one entry "cuda:0"
/// that says what is missing. Engine thread.
[[nodiscard]] std::vector<DeviceInfo> listDevices();

/// Sets the number of threads for computations on the CPU; 0 keeps the current number. Returns the number in effect.
/// Must be called on the engine thread, because the number is a property of that thread.
int useThreads(int count);

/// Returns the device with this key and loads its backend. Errors say what is missing and how to get it.
[[nodiscard]] Result<c10::Device> openDevice(const std::string& key);

struct DeviceMemory {
    std::int64_t freeBytes = 0;
    std::int64_t totalBytes = 0;
    std::int64_t othersBytes = 0; ///< on a GPU: used by other programs, or by the driver for this one
};
/// Returns the memory that a run could allocate now. On the CPU: what the kernel and the control group leave. On a GPU:
/// including the memory that LibTorch's allocator keeps from earlier runs. Throws if CUDA does not answer.
[[nodiscard]] DeviceMemory memoryOf(c10::Device device);

/// Returns the peak memory in bytes: on a GPU the allocator's since resetPeakBytes, on the CPU the process's resident
/// set.
[[nodiscard]] std::int64_t peakBytes(c10::Device device);
void resetPeakBytes(c10::Device device);

/// Waits until all work enqueued on the device is done; returns at once on the CPU.
void synchronise(c10::Device device);

/// Returns the custom CUDA kernels. Returns null if the library is missing or does not fit; `why` then says which.
/// Loads it once, from RESIDUA_KERNELS, beside the program, ../lib/residua or the build tree.
[[nodiscard]] const kernels::CudaKernels* cudaKernels(std::string& why);

} // namespace residua::engine
