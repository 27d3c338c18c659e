// SPDX-License-Identifier: GPL-3.0-or-later
// Runs CUDA kernels on the host, to test them without a GPU. Blocks run one after the other. The threads of a block are
// fibers of the calling thread, which change places at barriers and warp operations. Every access to memory calls the
// emulator, because the kernels are compiled with -fsanitize=thread and the emulator has the functions that the
// compiler then calls (memory.cpp). It reports
//   - accesses outside of what cudaMalloc returned and of the block's shared memory;
//   - reads of shared memory that the block has not written, or that an asynchronous copy may still write;
//   - two accesses to one address, at least one of them a write, by threads without a barrier (or, within a warp, a
//     __syncwarp) between them; in global memory also by threads of different blocks;
//   - accesses that are not aligned as their type needs, and indices outside of an array (UBSan's checks);
//   - barriers and warp operations that some of the threads never reach.
// A launch with a finding returns cudaErrorLaunchFailure, and cudaGetErrorString describes the first finding.
// Has no clusters, atomics, or memory model beyond this: a shuffle orders no accesses, as in CUDA.
#pragma once

#include "tests/kernels/emulation/cuda_runtime.h"

#include <string>

namespace residua::emulation {

#pragma GCC visibility push(default)

/// The next launch, cudaFuncSetAttribute, cudaMemsetAsync or cudaGetDeviceCount returns `error` and does nothing.
void failNextCall(cudaError_t error);

#pragma GCC visibility pop

// threads.cpp

inline constexpr unsigned kMaxThreads = 1024;

inline constexpr std::size_t kStackBytes = 256 * 1024;

/// The thread that runs now.
struct Thread {
    unsigned number;            ///< in its block
    const unsigned* warpPhase;  ///< how often its warp has met at __syncwarp
    const unsigned char* stack; ///< [kStackBytes]
};
extern Thread running;

/// True for the running thread's stack and indices, which no other thread reads.
[[nodiscard]] inline bool isPrivate(const void* address)
{
    const auto* byte = static_cast<const unsigned char*>(address);
    return std::size_t(byte - running.stack) < kStackBytes ||
           std::size_t(byte - reinterpret_cast<const unsigned char*>(&indices)) < sizeof(indices);
}

/// Runs one block of `threads` threads to its end, or until abandonBlock().
void runBlock(dim3 block, const LaunchCall& call);
[[noreturn]] void abandonBlock();

// memory.cpp

/// Keeps the first finding of a launch, with the thread and its block; `code` is where in the program.
void report(const std::string& finding, const void* code = nullptr);
[[nodiscard]] const std::string& firstReport();
[[nodiscard]] bool isDevice(const void* address, std::size_t bytes);

/// True in every second launch: its asynchronous copies land where they are issued, and in the others where the thread
/// waits for them. A kernel must be right under both.
[[nodiscard]] bool copiesLandAtOnce();
void beginLaunch(const LaunchCall& call, std::size_t dynamicSharedBytes);
void endLaunch();
void beginBlock();
/// All threads of the block have met at a barrier.
void nextPhase();
/// An access of the running thread to memory that is not private. Issue begins an asynchronous copy to the memory, and
/// Write completes the copy. A read between the two is an error.
enum class Access { Read, Write, Issue };
void touch(const void* address, std::size_t bytes, Access access, const void* code);

} // namespace residua::emulation
