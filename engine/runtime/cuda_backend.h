// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace residua::engine {

/// A GPU as its driver describes it. Asking takes no memory on the device.
struct GpuFigures {
    std::string name;
    std::int64_t freeBytes = 0;
    std::int64_t totalBytes = 0;
    std::string reason; ///< why it is too old, in one line; else empty
};

/// What the NVIDIA driver sees; `reason` says in one line why there is nothing, and what to do.
struct GpuDriver {
    std::vector<GpuFigures> gpus;
    std::string reason;
};
[[nodiscard]] GpuDriver queryGpuDriver();

/// Registers LibTorch's CUDA backend by loading libtorch_cuda.so from LibTorch's own directory. Does it once; after an
/// error the next call tries again. Empty on success, else why not and what to do, in one line. Any thread.
///
/// LibTorch looks for the backend once, in the first backward pass of the process at the latest. To be called before
/// it, on the CPU too: a backend that is loaded later cannot be used, and the program must be restarted.
[[nodiscard]] std::string loadCudaBackend();

/// Asks the GPUs that hold memory of ours if they still work, to be called after an error. Empty if they do, else what
/// to do, in one line: some errors of CUDA end its use for the life of the process. loadCudaBackend() returns the same
/// from then on. Any thread.
[[nodiscard]] std::string checkGpus();

} // namespace residua::engine
