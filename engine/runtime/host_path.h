// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <c10/core/Device.h>

#include <atomic>

namespace residua::engine {

/// While an instance exists, functions on the CPU take the code paths for GPUs, so that tests can run them without a
/// GPU. The custom CUDA kernels and LibTorch's fused RMS norm are still replaced by their CPU versions. Must exist
/// while networks are compiled and run.
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

/// True if tensors on `device` use the host's own functions: the CPU kernels and host_products.h.
[[nodiscard]] inline bool takesHostPath(c10::Device device)
{
    return device.is_cpu() && !GpuPathsOnHost::active();
}

} // namespace residua::engine
