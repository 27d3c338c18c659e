// SPDX-License-Identifier: GPL-3.0-or-later
// The mixing kernels for every depth topology: GRN-v1/v2/v3 and DCA (DeepCrossAttention section 3.1), ANCRe (eq. 5-8),
// DenseFormer, MUDD, attention over depth. A reader mixes a stack of t source tensors; the sources are stored once and
// never concatenated.
//
// Shapes: N tokens, d features, t sources, O outputs (O mixes of the same stack read in one pass: q, k, v).
// S = N·d·bytes per element is the size of one source. Bytes that must move:
//   mixForward     (t + O [+ O with base])·S, plus 4·O·t·N for gate logits, 4·t·N for rstd
//   mixWeightGrad  (t + O)·S, plus the same scalars
//   mixGather      (K + 1 [+ 1 with own] [+ 1 with a normalised gate])·S for K readers
// All sums run in float32 (float64 for float64 data) in the order base, s = 0 .. t-1, so all-ones weights give exactly
// the running residual sum x_0 + x_1 + ... in that precision. Each result element is rounded to the data type once.
//
// The functions below run on the CPU, on the caller's thread and those of `parallel`; results do not depend on the
// number of threads. cuda_kernels.h has the same functions for a CUDA stream. The caller owns all memory; nothing is
// allocated.
#pragma once

#include "kernels/types.h"

#include <cstddef>
#include <cstdint>

namespace residua::kernels {

inline constexpr int kMaxOutputs = 4;
inline constexpr int kMaxSources = 512;
inline constexpr int kMaxReaders = 512;

/// The trained weight a of a source: absent (a = 0), one number, or one number per feature.
enum class WeightKind : std::int32_t { none, scalar, perFeature };

/// The part of a weight that depends on the input, with z[o,s,n] = <u_o, x_s[n,:]>.
enum class GateKind : std::int32_t {
    none,        ///< weight = a
    token,       ///< weight = a + γ[o,s,n], γ given (MUDD, attention over depth)
    reluOutside, ///< weight = a + relu(z)       GRN-v3 as printed (DeepCrossAttention eq. of section 3.1)
    reluInside,  ///< weight = relu(a + z)       the reading of its appendix H
};

[[nodiscard]] constexpr bool isRelu(GateKind kind)
{
    return kind == GateKind::reluInside || kind == GateKind::reluOutside;
}

/// The input of a relu gate: x itself, or x·rstd with rstd = 1/sqrt(mean(x²) + eps).
enum class GateInput : std::int32_t { raw, normalised };

/// relu'(0). With `zero` and u = 0, a gate never learns.
enum class ReluGradAtZero : std::int32_t { one, zero };

/// The arguments that forward and backward of one reader share.
struct MixStack {
    DataType dataType = DataType::float32;
    std::int64_t tokens = 0;             ///< N
    std::int64_t width = 0;              ///< d
    std::int32_t sources = 0;            ///< t, 1 .. kMaxSources
    std::int32_t outputs = 1;            ///< O, 1 .. kMaxOutputs
    const void* const* source = nullptr; ///< [t] pointers to [N, d], a host array; a null entry is absent: it adds
                                         ///< nothing, its gradients, logits and rstd are written as 0
    WeightKind weightKind = WeightKind::scalar;
    GateKind gateKind = GateKind::none;
    GateInput gateInput = GateInput::raw;
    ReluGradAtZero reluGradAtZero = ReluGradAtZero::one;
    double eps = 1e-6;                  ///< of the normalised gate input
    const void* weights = nullptr;      ///< a: [O, t] or [O, t, d]
    const void* tokenWeights = nullptr; ///< γ: [O, t, N], GateKind::token
    const void* gateVectors = nullptr;  ///< u: [O, d], relu gates
};

/// out[o][n,c] = base[o][n,c] + Σ_s weight[o,s,n](c)·x_s[n,c]; the base (ANCRe's F_j, eq. 5) is added first.
struct MixForward {
    MixStack stack;
    const void* base[kMaxOutputs] = {}; ///< [N, d] each, or null; may be the same tensor as out[o]
    void* out[kMaxOutputs] = {};        ///< [N, d] each; must not overlap a source
    void* gateLogits = nullptr;         ///< z: [O, t, N], written for relu gates, needed by the backward
    void* rstd = nullptr;               ///< [t, N], written for normalised gate inputs, needed by the backward
};

/// The gradients of one reader's own tensors, from the gradients g_o of its outputs. Overwrites the results.
///   weightGrad      da = Σ_n [relu'] g_o·x_s            (summed over c for scalar weights)
///   tokenGrad       GateKind::token: dγ = <g_o, x_s>; relu gates: q = dz = relu'·<g_o, x_s>
///                   (per-feature relu' inside the sum)
///   gateVectorGrad  du_o = Σ_{s,n} q·x_s[n,:]           (times rstd for normalised inputs)
/// Reductions over tokens use chunks that depend on the shape only.
struct MixWeightGrad {
    MixStack stack;
    const void* outGrad[kMaxOutputs] = {}; ///< g_o: [N, d] each
    const void* gateLogits = nullptr;      ///< as forward wrote it
    const void* rstd = nullptr;            ///< as forward wrote it
    void* weightGrad = nullptr;            ///< like weights; null: not wanted
    void* tokenGrad = nullptr;             ///< [O, t, N]; null: not wanted (mixGather needs that of relu gates)
    void* gateVectorGrad = nullptr;        ///< [O, d]; null: not wanted
    void* workspace = nullptr;             ///< 64-byte aligned, at least mixWeightGradWorkspace bytes
    std::size_t workspaceBytes = 0;
};

/// One (reader, output) pair that read a source: output o of a reader in which the source has index s.
struct MixReader {
    const void* outGrad = nullptr;    ///< g: [N, d]
    const void* weight = nullptr;     ///< &a[o,s]: one number or [d]
    const void* token = nullptr;      ///< [N]: γ[o,s,:] for GateKind::token, z[o,s,:] for relu gates
    const void* gateGrad = nullptr;   ///< q[o,s,:]: [N], relu gates: tokenGrad of mixWeightGrad
    const void* gateVector = nullptr; ///< u_o: [d], relu gates
    WeightKind weightKind = WeightKind::scalar;
    GateKind gateKind = GateKind::none;
    GateInput gateInput = GateInput::raw;
};

/// The gradient of one source, after all its readers have run mixWeightGrad (the deferred backward):
///   dx[n,c] = own[n,c] + Σ_k (weight_k[n](c)·g_k[n,c] + q_k[n]·u_k(c))
/// For normalised gates, the last term is rstd·q_k·u_k(c) - q_k·z_k·rstd²/d·x[n,c].
struct MixGather {
    DataType dataType = DataType::float32;
    std::int64_t tokens = 0;
    std::int64_t width = 0;
    std::int32_t readers = 0;          ///< K, 0 .. kMaxReaders
    const MixReader* reader = nullptr; ///< [K], a host array
    const void* own = nullptr;         ///< [N, d] gradient from elsewhere, or null; may be sourceGrad itself
    const void* source = nullptr;      ///< x: [N, d], needed when a reader's gate is normalised
    const void* rstd = nullptr;        ///< rstd[s,:]: [N], likewise
    void* sourceGrad = nullptr;        ///< dx: [N, d]
};

[[nodiscard]] Status validate(const MixForward& mix);
[[nodiscard]] Status validate(const MixWeightGrad& mix); ///< all but the workspace, whose size depends on the device
[[nodiscard]] Status validate(const MixGather& mix);

[[nodiscard]] Status mixForward(const MixForward& mix, const Parallel& parallel = {});
[[nodiscard]] Status mixWeightGrad(const MixWeightGrad& mix, const Parallel& parallel = {});
[[nodiscard]] Status mixGather(const MixGather& mix, const Parallel& parallel = {});

/// Returns the bytes of workspace that mixWeightGrad needs; reads the shape, the kinds and the requested results.
[[nodiscard]] std::size_t mixWeightGradWorkspace(const MixWeightGrad& mix);

} // namespace residua::kernels
