// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/runtime/compute.h"
#include "kernels/depth_mix.h"

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

namespace residua::engine {

/// The weights of one reader's t sources, for each of its O outputs (formulas in kernels/depth_mix.h). Weights are in
/// the compute's parameter type, whatever the stack's type.
struct MixWeights {
    kernels::WeightKind weightKind = kernels::WeightKind::scalar;
    kernels::GateKind gateKind = kernels::GateKind::none;
    kernels::GateInput gateInput = kernels::GateInput::raw;
    kernels::ReluGradAtZero reluGradAtZero = kernels::ReluGradAtZero::one;
    at::Tensor weights;      ///< [O, t] or [O, t, d]; undefined for WeightKind::none
    at::Tensor tokenWeights; ///< [O, t, N]; GateKind::token
    at::Tensor gateVectors;  ///< [O, d]; relu gates
};

/// One reader with its sources [..., d], which are contiguous and of one type.
struct MixCall {
    std::vector<at::Tensor> sources;
    MixWeights weights;
    int outputs = 1;
};

/// The backward of gated mixes needs `gateLogits` [O, t, N] and `rstd` [t, N].
struct MixOutputs {
    std::vector<at::Tensor> outputs; ///< O tensors shaped as a source
    at::Tensor gateLogits;
    at::Tensor rstd;
};

enum class WeightGrads { Token, All }; ///< Token: only the gradients that mixGather needs

/// The gradients of a reader's own tensors; undefined for tensors that do not exist.
struct MixGradients {
    at::Tensor weights;
    at::Tensor token; ///< dγ, or q of relu gates, [O, t, N]
    at::Tensor gateVectors;
};

/// One (reader, output) pair of a source; see kernels::MixReader.
struct MixReading {
    at::Tensor outGrad;
    const MixCall* call = nullptr;
    at::Tensor gateLogits;
    at::Tensor tokenGrad;
    int output = 0;
    int source = 0; ///< the index among the reader's sources
};

/// These functions run the custom kernels on the CPU, the CUDA kernels if they are loaded, and a composition of ATen
/// operators elsewhere, with equal results up to rounding. They record no gradients.
/// `base` is empty or has one tensor per output.
[[nodiscard]] MixOutputs mixForward(const Compute& compute, const MixCall& call, std::span<const at::Tensor> base);
[[nodiscard]] MixGradients mixWeightGrad(const Compute& compute, const MixCall& call,
                                         std::span<const at::Tensor> outGrads, const at::Tensor& gateLogits,
                                         const at::Tensor& rstd, WeightGrads wanted);
/// `own` may be undefined; it is overwritten if it has no other owner. `rstd` [N] is that of the source.
[[nodiscard]] at::Tensor mixGather(const Compute& compute, std::span<const MixReading> readings, at::Tensor own,
                                   const at::Tensor& source, const at::Tensor& rstd);

/// The three functions of mix_kernels.h as compositions of ATen operators, for devices without custom kernels.
[[nodiscard]] MixOutputs composeMix(const Compute& compute, const MixCall& call, std::span<const at::Tensor> base);
[[nodiscard]] MixGradients composeMixWeightGrad(const Compute& compute, const MixCall& call,
                                                std::span<const at::Tensor> outGrads, const at::Tensor& gateLogits,
                                                const at::Tensor& rstd);
[[nodiscard]] at::Tensor composeMixGather(std::span<const MixReading> readings, const at::Tensor& own,
                                          const at::Tensor& source, const at::Tensor& rstd);

} // namespace residua::engine
