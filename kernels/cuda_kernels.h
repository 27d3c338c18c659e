// SPDX-License-Identifier: GPL-3.0-or-later
// The CUDA side of the kernels: a shared library of its own (libresidua_kernels_cuda.so), found at run time, reached
// through one table of functions. A machine without it or without a GPU uses the CPU functions of depth_mix.h
// and transformer.h.
#pragma once

#include "kernels/depth_mix.h"
#include "kernels/transformer.h"

#include <string>

namespace residua::kernels {

/// The same contracts as the functions in depth_mix.h and transformer.h, with device pointers for all data (host arrays
/// of pointers and readers stay host arrays) and a cudaStream_t as void*. Calls only enqueue work on the current
/// device; they never synchronise and can be captured in a CUDA graph. The reductions are deterministic.
struct CudaKernels {
    std::int32_t version; ///< kCudaKernelsVersion of the library
    Status (*mixForward)(const MixForward& mix, void* stream);
    Status (*mixWeightGrad)(const MixWeightGrad& mix, void* stream);
    Status (*mixGather)(const MixGather& mix, void* stream);
    /// Bytes. At most 256 blocks' partial sums, and fewer blocks where O·t·d is large: beyond 128 MiB the sums of 64
    /// blocks, 256·O·t·d bytes. The number of blocks depends on the shape and on which results are wanted.
    std::size_t (*mixWeightGradWorkspace)(const MixWeightGrad& mix);
    std::int32_t (*deviceCount)();
    const char* (*lastError)(); ///< of the calling thread, after Status::deviceFailure
    /// Returns how many calls of this process loaded element by element, which is several times slower: those with a
    /// tensor that is not aligned to 16 bytes, or with a width that is not a multiple of 4 (transformer.h in bfloat16:
    /// of 8; the cross entropy takes any number of classes). Excludes float64.
    std::uint64_t (*singleElementCalls)();
    Status (*rmsNormForward)(const RmsNormForward& norm, void* stream);
    Status (*rmsNormBackward)(const RmsNormBackward& norm, void* stream);
    std::size_t (*rmsNormBackwardWorkspace)(const RmsNormBackward& norm);
    Status (*swigluForward)(const SwigluForward& swiglu, void* stream);
    Status (*swigluBackward)(const SwigluBackward& swiglu, void* stream);
    Status (*rotary)(const Rotary& rotary, void* stream);
    Status (*crossEntropy)(const CrossEntropy& entropy, void* stream);
};

inline constexpr std::int32_t kCudaKernelsVersion = 2;

/// Loads the library (once per path it stays loaded for the life of the process). Null when it is missing, of another
/// version, or needs a CUDA runtime that is not there; `why` then says which.
[[nodiscard]] const CudaKernels* loadCudaKernels(const std::string& path, std::string& why);

} // namespace residua::kernels
