// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/runtime/compute.h"
#include "kernels/streams.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace residua::engine {

/// Parallel streams between two branches (formulas in kernels/streams.h): a write of a branch, then the norm, the
/// logits and the read of the next branch. Weights are in the compute's parameter type, streams and branches in its
/// residual type. n streams have w features.
struct StreamSite {
    std::vector<at::Tensor> streams;  ///< before the write, or those to read without one: n of [..., w]
    std::vector<at::Tensor> branches; ///< 1 or n of [..., w]; empty if nothing is written
    at::Tensor weights;               ///< of the write: [n, n + B]; undefined for 0
    at::Tensor tokenWeights;          ///< are added to them: [n, n + B, N]; undefined for 0
    kernels::StreamNorm norm = kernels::StreamNorm::all;
    double eps = 0;
    at::Tensor rows;        ///< φ: [n, M, w], or [M, w] for a norm of each stream; undefined: no logits
    std::int64_t reads = 0; ///< R: 0, 1 or n
    kernels::StreamRead read = kernels::StreamRead::fixed;
    at::Tensor base;   ///< [R, n]; undefined for 0, like `bias`
    at::Tensor bias;   ///< [R, n]
    at::Tensor factor; ///< one number; undefined for 1, like `gain`
    at::Tensor gain;   ///< one number
    double constant = 0;
};

struct StreamResults {
    std::vector<at::Tensor> streams; ///< after the write
    at::Tensor y;                    ///< the logits: [M, N], or [n, M, N] for a norm of each stream
    std::vector<at::Tensor> reads;   ///< R of [..., w]
};

/// Computes a site by one kernel each way on the CPU and on a GPU with the CUDA kernels, and by ATen's operators
/// elsewhere, with equal results up to rounding. Differentiable once.
[[nodiscard]] StreamResults streamSite(const Compute& compute, const StreamSite& site);

/// Returns the weights of the read of n streams for their logits: [R, n, N], or [R, n, 1] if they are fixed. Does not
/// use the tensors of `site` that are streams. Differentiable.
[[nodiscard]] at::Tensor readWeights(const StreamSite& site, std::int64_t n, const at::Tensor& y);

} // namespace residua::engine
