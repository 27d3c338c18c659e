// SPDX-License-Identifier: GPL-3.0-or-later
// Case tables of the transformer kernels over any backend, against double-precision compositions.
#pragma once

#include "kernels/cuda_kernels.h"
#include "kernels/transformer.h"
#include "tests/kernels/mix_harness.h"

#include <cmath>
#include <functional>
#include <memory>
#include <string>

namespace residua::tests {

inline constexpr kernels::DataType kTypes[] = {kernels::DataType::float32, kernels::DataType::bfloat16,
                                               kernels::DataType::float64};

/// The type of weights and saved scalars.
[[nodiscard]] inline kernels::DataType accumulator(kernels::DataType type)
{
    return type == kernels::DataType::float64 ? kernels::DataType::float64 : kernels::DataType::float32;
}

[[nodiscard]] inline double tolerance(kernels::DataType type)
{
    return type == kernels::DataType::float64 ? 1e-13 : type == kernels::DataType::float32 ? 3e-6 : 0x1p-8;
}

/// Uniform on [-spread, spread), rounded to the type.
[[nodiscard]] Values randomValues(std::size_t count, kernels::DataType type, unsigned seed, double spread = 1);

[[nodiscard]] inline double silu(double value)
{
    return value / (1 + std::exp(-value));
}

/// The kernels of a backend, and its memory.
struct TransformerKernels {
    std::function<std::unique_ptr<MixBackend>()> memory; ///< of one case
    std::function<kernels::Status(const kernels::NormForward&)> normForward;
    std::function<kernels::Status(const kernels::NormBackward&)> normBackward;
    std::function<std::size_t(const kernels::NormBackward&)> normBackwardWorkspace;
    std::function<kernels::Status(const kernels::SwigluForward&)> swigluForward;
    std::function<kernels::Status(const kernels::SwigluBackward&)> swigluBackward;
    std::function<kernels::Status(const kernels::Rotary&)> rotary;
    std::function<kernels::Status(const kernels::CrossEntropy&)> crossEntropy;
    std::function<kernels::Status(const kernels::Dropout&)> dropout;
    std::function<kernels::Status(const kernels::AdamW&)> adamw;                       ///< CUDA only
    std::function<kernels::Status(const kernels::SinkhornForward&)> sinkhornForward;   ///< CUDA only
    std::function<kernels::Status(const kernels::SinkhornBackward&)> sinkhornBackward; ///< CUDA only
    std::function<kernels::Status(const kernels::StreamsForward&)> streamsForward;
    std::function<kernels::Status(const kernels::StreamsBackward&)> streamsBackward;
    std::function<std::size_t(const kernels::StreamsBackward&)> streamsBackwardWorkspace;
    bool allNorms = false; ///< has LayerNorm, and norms from float32 to bfloat16
};

[[nodiscard]] TransformerKernels cpuTransformerKernels();

/// The functions of `kernels`, which must outlive the result; `memory` is left to the caller.
[[nodiscard]] TransformerKernels transformerKernelsOf(const kernels::CudaKernels& kernels);

/// Each runs its kernel's cases: empty, or the first case that differs and by how much.
[[nodiscard]] std::string checkNorms(const TransformerKernels& kernels);
[[nodiscard]] std::string checkSwiglu(const TransformerKernels& kernels);
[[nodiscard]] std::string checkRotary(const TransformerKernels& kernels);
[[nodiscard]] std::string checkCrossEntropy(const TransformerKernels& kernels);
[[nodiscard]] std::string checkAdamW(const TransformerKernels& kernels);
[[nodiscard]] std::string checkDropout(const TransformerKernels& kernels);
[[nodiscard]] std::string checkSinkhorn(const TransformerKernels& kernels);
[[nodiscard]] std::string checkStreams(const TransformerKernels& kernels);

/// Empty, or the result of RMSNorm's backward or of the cross entropy that another run gives other bits.
[[nodiscard]] std::string checkRepeats(const TransformerKernels& kernels);

} // namespace residua::tests
