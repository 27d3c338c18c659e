// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/runtime/scaled_products.h"

#include <ATen/core/Tensor.h>
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

/// The products of a linear layer, by the faster of LibTorch's two libraries. MKL has no AVX-512 path for processors
/// not from Intel; oneDNN generates its own code and is 8 to 12 % faster there (gemm of 2048 rows, widths 256 to 1408,
/// fp32). The results of the two differ by rounding only; on one machine, the shapes alone decide. These functions are
/// not differentiable.
///
/// oneDNN multiplies bfloat16. If the processor has no instructions for it, the product is computed in float, which is
/// not slower.

/// Returns a·b of host matrices in their own type.
[[nodiscard]] at::Tensor product(const at::Tensor& a, const at::Tensor& b);
/// True if `x` is bfloat16 on the host and is multiplied as float.
[[nodiscard]] bool multipliesAsFloat(const at::Tensor& x);

/// Returns x·Wᵀ. `x` [N, k], `weight` [n, k], any strides.
[[nodiscard]] at::Tensor timesTransposed(const at::Tensor& x, const at::Tensor& weight,
                                         Products products = Products::Own);
/// Returns y·W, the gradient of x for the gradient y of x·Wᵀ. `y` [N, n], `weight` [n, k], any strides.
[[nodiscard]] at::Tensor times(const at::Tensor& y, const at::Tensor& weight, Products products = Products::Own);
/// Returns yᵀ·x in `type`, the gradient of W for the gradient y of x·Wᵀ. Sums of bfloat16 products are in float; for
/// float, they are rounded only by LibTorch's own product of bfloat16 on the host.
[[nodiscard]] at::Tensor weightGradient(const at::Tensor& y, const at::Tensor& x, at::ScalarType type);

} // namespace residua::engine
