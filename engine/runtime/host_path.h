// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <c10/core/Device.h>

#include <atomic>

namespace residua::engine {

/// While it lives, functions on the CPU take the paths that are for GPUs, so that tests run them without one. Our CUDA
/// kernels and LibTorch's fused RMS norm are still replaced by the CPU's. Must live while networks are compiled and
/// run.
class GpuPathsOnHost {
public:
    GpuPathsOnHost() { s_active = true; }
    ~GpuPathsOnHost() { s_active = false; }
    GpuPathsOnHost(const GpuPathsOnHost&) = delete;
    GpuPathsOnHost& operator=(const GpuPathsOnHost&) = delete;

    [[nodiscard]] static bool active() { return s_active; }

private:
    static inline std::atomic<bool> s_active = false;
};

/// True if what is on `device` is computed by the host's own functions: our CPU kernels, host_products.h.
[[nodiscard]] inline bool takesHostPath(c10::Device device)
{
    return device.is_cpu() && !GpuPathsOnHost::active();
}

} // namespace residua::engine
