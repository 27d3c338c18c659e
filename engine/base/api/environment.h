// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>

namespace residua::engine {

/// Sets the environment variables that configure the numerical libraries as the engine needs them. Keeps a variable
/// that the user has set.
/// - OpenMP: a short spin. By default, threads that wait for each other spin for milliseconds. If another program uses
///   the processor, they then block each other: beside a compiler on two cores, training took 3 to 12 times longer.
///   Read when OpenMP is loaded.
/// - MKL: products whose bits do not depend on the number of threads, where it supports them. Read at the first
///   product.
/// - LibTorch, if this is one of several ranks: no warnings, with their stack traces, about a rank that has ended.
/// - cuBLAS: the workspace with which it is deterministic. Read when CUDA starts.
///
/// Must be called while the process has one thread, because setting an environment variable while another thread reads
/// one is a data race. Further calls do nothing.
void prepareEnvironment();

/// Calls prepareEnvironment(); must be the first call in main, with main's `arguments`. If a library that the program
/// is linked with (such as Qt's) loads OpenMP before main, OpenMP has already read its variable. This function then
/// executes the program again, once, in the same process. It returns if the user has set GOMP_SPINCOUNT or
/// OMP_WAIT_POLICY, if OpenMP is loaded with the engine, or if the system refuses.
void startPrepared(char** arguments);

/// The size limit of one of the user's caches. The environment variable `variable` gives it in MiB (0 disables the
/// cache); `mebibytes` is the default.
struct CacheLimit {
    const char* variable = "";
    std::uint64_t mebibytes = 0;

    [[nodiscard]] constexpr std::uint64_t bytes() const { return mebibytes << 20U; }
};

// The caches of data files' hashes, fitted low-rank factors and tokenised texts. Pages of resources/help name the last
// two variables.
inline constexpr CacheLimit kDigestCache{"RESIDUA_DIGESTS_MIB", 1};
inline constexpr CacheLimit kFitCache{"RESIDUA_FITS_MIB", 1024};
inline constexpr CacheLimit kTokenCache{"RESIDUA_TOKENS_MIB", 8192};
/// The files that a place with a folder keeps for the next run (engine/link/remote/remote_store.h).
inline constexpr CacheLimit kPlaceLimit{"RESIDUA_PLACE_MIB", 102400};

/// The time limit for the first message of an engine's process, in seconds. Long enough to type a passphrase. The
/// environment variable gives another one; 0: no limit.
inline constexpr const char* kGreetingLimitVariable = "RESIDUA_GREETING_SECONDS";
inline constexpr int kGreetingLimitSeconds = 180;

/// The file that marks a folder as a run.
inline constexpr const char* kRunFile = "run.json";
/// The prefix of a checkpoint folder's name; the step follows.
inline constexpr const char* kCheckpointPrefix = "step-";
/// Returns <run>/checkpoints/step-00000500. The folder may not exist.
[[nodiscard]] std::filesystem::path checkpointDirectory(const std::filesystem::path& runDirectory, std::int64_t step);

} // namespace residua::engine
