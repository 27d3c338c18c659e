// SPDX-License-Identifier: GPL-3.0-or-later
// Types that every kernel family shares: element types, status codes, the caller's parallel-for.
#pragma once

#include <cstdint>

namespace residua::kernels {

/// Element type of the data. Weights, gates, saved scalars and all weight gradients are float32, or float64 for float64
/// data.
enum class DataType : std::int32_t { float32, bfloat16, float64 };

enum class Status : std::int32_t {
    ok,
    badShape,       ///< a size is negative, or outputs, sources or readers is outside its range
    missingPointer, ///< a pointer that the chosen kinds need is null
    badKind,        ///< an enum value is unknown, or the combination has no meaning
    badEpsilon,     ///< a normalised gate or norm with eps < 0 or not finite
    workspaceTooSmall,
    overlap,       ///< an output aliases an input that is still being read
    deviceFailure, ///< the CUDA runtime refused the launch; CudaKernels::lastError() has its text
};

/// Returns one sentence for a status, without names, because the caller knows the layer.
[[nodiscard]] const char* describe(Status status);

/// The caller's threads. `run` splits [0, count) into ranges of at least `grain` items, calls body(state, begin, end)
/// for each on any thread, and returns when all are done. A null `run` is serial. No kernel's result depends on the
/// split.
struct Parallel {
    using Body = void (*)(void* state, std::int64_t begin, std::int64_t end);
    void (*run)(void* context, std::int64_t count, std::int64_t grain, Body body, void* state) = nullptr;
    void* context = nullptr;
};

} // namespace residua::kernels
