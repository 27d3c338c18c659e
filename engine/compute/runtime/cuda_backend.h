// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/machine/failure.h"

#include <c10/core/Device.h>

#include <cstdint>
#include <string>
#include <vector>

namespace residua::engine {

/// A GPU as its driver describes it. Queried without allocating memory on the device.
struct GpuFigures {
    std::string name;
    std::int64_t freeBytes = 0;
    std::int64_t totalBytes = 0;
    int capability = 0; ///< ten times the major number plus the minor one; 0 if the driver does not say
    std::string reason; ///< why it is too old, in one line; else empty
};

/// The NVIDIA driver's GPUs. Without GPUs, `reason` gives the cause and the remedy in one line.
struct GpuDriver {
    std::vector<GpuFigures> gpus;
    std::string reason;
};
[[nodiscard]] GpuDriver queryGpuDriver();

/// Returns why the device does not multiply in float8, in one line; empty if it does, or if its driver does not say.
/// The CPU computes the same with numbers of more bits.
[[nodiscard]] std::string eightBitProblem(c10::Device device);

/// Registers LibTorch's CUDA backend by loading libtorch_cuda.so from LibTorch's own directory, once; after an error,
/// the next call tries again. Returns an empty text on success, else the cause and the remedy in one line. Any thread.
///
/// Must be called before the process's first backward pass, even one on the CPU. LibTorch looks for the backend then at
/// the latest, and only once; a backend loaded later cannot be used until the program is restarted.
[[nodiscard]] std::string loadCudaBackend();

/// Checks whether the GPUs on which this process holds memory still work; call it after an error. Returns an empty text
/// if they do, else the remedy in one line: some errors of CUDA end its use for the rest of the process. After that,
/// loadCudaBackend() returns the same text. Any thread.
[[nodiscard]] std::string checkGpus();

/// Calls attemptStandard() for work that uses LibTorch or CUDA. After an error that ends the use of a GPU in this
/// process, the text says to restart the program (checkGpus()).
[[nodiscard]] std::optional<Failure> attempt(const std::function<void()>& work);

} // namespace residua::engine
