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
};

/// What the NVIDIA driver sees; `reason` says in one line why there is nothing.
struct GpuDriver {
    std::vector<GpuFigures> gpus;
    std::string reason;
};
[[nodiscard]] GpuDriver queryGpuDriver();

/// Registers LibTorch's CUDA backend by loading libtorch_cuda.so from LibTorch's own directory; does it once.
/// Empty on success, else why not and what to do. Engine thread.
[[nodiscard]] const std::string& loadCudaBackend();

} // namespace residua::engine
