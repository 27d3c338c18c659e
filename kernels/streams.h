// SPDX-License-Identifier: GPL-3.0-or-later
// Parallel residual streams: Hyper-Connections, mHC, mHC-lite, identity hyper-connections, Frac-Connections. A site is
// a write of a branch to the streams, then the norm, the logits and the read of the next branch. The caller computes
// the weights of the write from the logits of the site before, by any law; they are few numbers per token.
//
// N tokens, w features of a stream, n streams, B branches (1, or n fractions of one; 0: no write, the streams are
// given), R reads (0, 1 or n), M logits. With S = N·w·bytes of an element, bytes that must move:
//   streamsForward   (2n + B + R)·S
//   streamsBackward  (4n + 2B + R)·S, and with the gradient of φ n·S more
// Numbers per token come in addition. Sums over features are in float32 (float64 for float64 data), a new stream is
// summed in the order of the streams, then of the branches, and everything else is computed from its stored values.
#pragma once

#include "kernels/types.h"

#include <cstddef>
#include <cstdint>

namespace residua::kernels {

inline constexpr std::int32_t kMaxStreams = 8;
inline constexpr std::int32_t kMaxStreamLogits = 160; ///< of a token: M, or n·M with a norm for each stream

/// The norm of the streams that the logits are computed from.
enum class StreamNorm : std::int32_t {
    all,     ///< one root mean square of all n·w features of a token; φ: [n, M, w], y_m = rstd·Σ_s <x_s, φ_sm>
    each,    ///< of each stream; φ: [M, w], y_sm = rstd_s·<x_s, φ_m>
    centred, ///< each, with the standard deviation as in a layer norm; rows of φ must sum to 0
};

/// The function from logits to weights of the read: p_rs = base_rs + factor·act(gain·y + bias_rs) + constant. The logit
/// y of output r and stream s is y_s (StreamNorm::all; R is 1), or y_sr.
enum class StreamRead : std::int32_t {
    fixed, ///< p = base
    sigmoid,
    tanh,
};

/// The arguments that forward and backward share. Weights and logits are float32 (float64 for float64 data).
struct StreamSite {
    DataType dataType = DataType::float32;
    std::int64_t tokens = 0;              ///< N
    std::int64_t width = 0;               ///< w
    std::int32_t streams = 0;             ///< n, 1 to kMaxStreams
    std::int32_t branches = 0;            ///< B: 0, 1 or n
    std::int32_t reads = 0;               ///< R: 0, 1 or n
    std::int32_t logits = 0;              ///< M
    const void* old[kMaxStreams] = {};    ///< [N, w] each: the streams before the write
    const void* branch[kMaxStreams] = {}; ///< [N, w] each
    const void* weights = nullptr;      ///< of the write, [n, n + B]: to stream t from stream s, from branch b; or null
    const void* tokenWeights = nullptr; ///< added to them: [n, n + B, N], or null
    StreamNorm norm = StreamNorm::all;
    double eps = 1e-6;
    const void* rows = nullptr; ///< φ, with M > 0
    StreamRead read = StreamRead::fixed;
    const void* base = nullptr;   ///< [R, n], or null for 0
    const void* bias = nullptr;   ///< [R, n], or null for 0
    const void* factor = nullptr; ///< one number, or null for 1
    const void* gain = nullptr;   ///< one number, or null for 1
    double constant = 0;
};

struct StreamsForward {
    StreamSite site;
    void* stream[kMaxStreams] = {}; ///< x: [N, w] each; written if B > 0, else only read
    void* y = nullptr;              ///< [M, N], or [n, M, N] with a norm for each stream
    void* rstd = nullptr;           ///< [N] or [n, N], with M > 0
    void* mean = nullptr;           ///< [n, N], of a centred norm
    void* out[kMaxStreams] = {};    ///< the reads: [N, w] each
};

/// The gradients of a site. dz = dy·rstd is the gradient of the products <x, φ>.
struct StreamsBackward {
    StreamSite site;
    const void* stream[kMaxStreams] = {}; ///< x, as forward left them
    const void* y = nullptr;              ///< as forward wrote it; rstd and mean likewise
    const void* rstd = nullptr;
    const void* mean = nullptr;
    const void* streamGrad[kMaxStreams] = {}; ///< [N, w] each, or null for 0: the gradients of x from elsewhere
    const void* outGrad[kMaxStreams] = {};    ///< [N, w] each
    const void* yGrad = nullptr;              ///< like y, or null for 0: from elsewhere than the read
    void* oldGrad[kMaxStreams] = {};          ///< [N, w] each; without a write the gradients of x
    void* branchGrad[kMaxStreams] = {};       ///< [N, w] each
    void* weightGrad = nullptr;               ///< of the write, for each token: [n, n + B, N]
    void* readGrad = nullptr;                 ///< of p: [R, n, N]
    void* productGrad = nullptr;              ///< dz, like y; with M > 0
    void* rowsGrad = nullptr;                 ///< like rows; null: not wanted
    void* workspace = nullptr;                ///< 64-byte aligned, at least streamsBackwardWorkspace bytes
    std::size_t workspaceBytes = 0;
};

/// The number of norms of a token: n, or 1.
[[nodiscard]] constexpr std::int32_t streamNorms(const StreamSite& site)
{
    return site.norm == StreamNorm::all ? 1 : site.streams;
}
/// The number of numbers in φ.
[[nodiscard]] constexpr std::int64_t streamRowElements(const StreamSite& site)
{
    return site.width * site.logits * (site.norm == StreamNorm::all ? site.streams : 1);
}
/// True if the kernels support so many streams with so many logits for each norm.
[[nodiscard]] constexpr bool fitsStreams(std::int64_t streams, std::int64_t logits, StreamNorm norm)
{
    return streams >= 1 && streams <= kMaxStreams &&
           logits * (norm == StreamNorm::all ? 1 : streams) <= kMaxStreamLogits;
}

[[nodiscard]] Status validate(const StreamsForward& streams);
[[nodiscard]] Status validate(const StreamsBackward& streams); ///< all but the workspace

[[nodiscard]] Status streamsForward(const StreamsForward& streams, const Parallel& parallel = {});
[[nodiscard]] Status streamsBackward(const StreamsBackward& streams, const Parallel& parallel = {});
[[nodiscard]] std::size_t streamsBackwardWorkspace(const StreamsBackward& streams);

} // namespace residua::kernels
