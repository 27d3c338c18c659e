// SPDX-License-Identifier: GPL-3.0-or-later
// The kernels for CUDA: a separate shared library (libresidua_kernels_cuda.so), found at run time and used through one
// table of functions. A machine without it or without a GPU uses the CPU functions of depth_mix.h and transformer.h,
// and compositions of tensor operators in place of adamw.h and sinkhorn.h.
#pragma once

#include "kernels/adamw.h"
#include "kernels/depth_mix.h"
#include "kernels/dropout.h"
#include "kernels/sinkhorn.h"
#include "kernels/streams.h"
#include "kernels/transformer.h"

#include <string>

namespace residua::kernels {

/// The functions have the contracts of the headers above, but take device pointers for all data (arrays of pointers,
/// readers, tensors and pieces remain host arrays) and a cudaStream_t as void*. Calls only enqueue work on the
/// current device; they never synchronise and can be captured in a CUDA graph. The reductions are deterministic.
struct CudaKernels {
    std::int32_t version; ///< kCudaKernelsVersion of the library
    Status (*mixForward)(const MixForward& mix, void* stream);
    Status (*mixWeightGrad)(const MixWeightGrad& mix, void* stream);
    Status (*mixGather)(const MixGather& mix, void* stream);
    /// Returns the bytes of the workspace. They depend on the shape, the kinds and the requested results only. In
    /// float32 and bfloat16, for rows of whole 16-byte packs: at most 6.5·O MiB, or 128·O·t·d bytes if that is more.
    /// For other rows, and for a relu inside per-feature weights: the partial sums of at most 256 blocks, or of fewer
    /// if O·t·d is large; beyond 128 MiB, those of 64 blocks, 256·O·t·d bytes.
    std::size_t (*mixWeightGradWorkspace)(const MixWeightGrad& mix);
    std::int32_t (*deviceCount)();
    const char* (*lastError)(); ///< of the calling thread, after Status::deviceFailure
    /// Returns how many calls of this process loaded single elements, which is several times slower: those with a
    /// tensor that is not aligned to 16 bytes, or with a width that is not a multiple of 4 (transformer.h in bfloat16:
    /// of 8; the cross entropy supports any number of classes). Excludes float64 and adamw.
    std::uint64_t (*singleElementCalls)();
    Status (*normForward)(const NormForward& norm, void* stream);
    Status (*normBackward)(const NormBackward& norm, void* stream);
    std::size_t (*normBackwardWorkspace)(const NormBackward& norm);
    Status (*swigluForward)(const SwigluForward& swiglu, void* stream);
    Status (*swigluBackward)(const SwigluBackward& swiglu, void* stream);
    Status (*rotary)(const Rotary& rotary, void* stream);
    Status (*crossEntropy)(const CrossEntropy& entropy, void* stream);
    Status (*adamw)(const AdamW& adamw, void* stream);
    Status (*sinkhornForward)(const SinkhornForward& sinkhorn, void* stream);
    Status (*sinkhornBackward)(const SinkhornBackward& sinkhorn, void* stream);
    Status (*dropout)(const Dropout& dropout, void* stream);
    Status (*streamsForward)(const StreamsForward& streams, void* stream);
    Status (*streamsBackward)(const StreamsBackward& streams, void* stream);
    std::size_t (*streamsBackwardWorkspace)(const StreamsBackward& streams);
};

inline constexpr std::int32_t kCudaKernelsVersion = 7;

/// Loads the library; each path stays loaded for the rest of the process. Returns null if it is missing, has another
/// version, or needs a CUDA runtime that is not installed; `why` then says which.
[[nodiscard]] const CudaKernels* loadCudaKernels(const std::string& path, std::string& why);

} // namespace residua::kernels
