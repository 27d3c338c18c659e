// SPDX-License-Identifier: GPL-3.0-or-later
// Kernels with a planted error each, which the emulation has to find, and without it has to accept.
#pragma once

#include <cuda_runtime.h>

#include <vector>

namespace residua::tests {

inline constexpr int kPlantedBlocks = 2;
inline constexpr int kPlantedThreads = 64;
inline constexpr int kPlantedShared = 4 * kPlantedThreads; ///< floats of dynamic shared memory

struct PlantedArgs {
    bool planted;      ///< with the error
    const float* in;   ///< [4 * kPlantedThreads]
    float* out;        ///< [kPlantedBlocks * kPlantedThreads]
    const float* host; ///< memory of the host
};

struct PlantedError {
    const char* name;
    void (*kernel)(PlantedArgs);
    const char* finding; ///< part of the report
};

[[nodiscard]] std::vector<PlantedError> plantedErrors();

/// Writes to out[thread] the sum of what the warp operations must give in a warp of 32, see warpOperationsOf().
void warpOperations(PlantedArgs args);

/// The same for one thread, by its number in the block.
[[nodiscard]] float warpOperationsOf(int thread);

/// Writes to out[thread] a sum of the thread's elements of a matrix product. If planted, the left factor is in shared
/// memory by columns, else by rows.
void matrixProduct(PlantedArgs args);

/// Returns the sum of one thread, by its number in the block.
[[nodiscard]] float matrixProductOf(int thread);

} // namespace residua::tests
