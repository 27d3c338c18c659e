// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/ops/mix_kernels.h"

namespace residua::engine {

/// The three functions of mix_kernels.h as compositions of ATen operators, for devices without custom kernels.
[[nodiscard]] MixOutputs composeMix(const Compute& compute, const MixCall& call, std::span<const at::Tensor> base);
[[nodiscard]] MixGradients composeMixWeightGrad(const Compute& compute, const MixCall& call,
                                                std::span<const at::Tensor> outGrads, const at::Tensor& gateLogits,
                                                const at::Tensor& rstd);
[[nodiscard]] at::Tensor composeMixGather(std::span<const MixReading> readings, const at::Tensor& own,
                                          const at::Tensor& source, const at::Tensor& rstd);

} // namespace residua::engine
