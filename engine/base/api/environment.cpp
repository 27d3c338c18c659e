// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/api/environment.h"

#include "engine/base/api/rank_position.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>

namespace residua::engine {
namespace {

constexpr const char* kProductMode = "MKL_CBWR"; ///< what MKL reads of how its products round
constexpr const char* kSpinCount = "GOMP_SPINCOUNT";
constexpr const char* kWaitPolicy = "OMP_WAIT_POLICY";

bool hasSpinCount()
{
    return std::getenv(kSpinCount) != nullptr || std::getenv(kWaitPolicy) != nullptr;
}

/// Returns the value of MKL_CBWR that fixes the bits of products for any number of threads, or null if MKL has no such
/// mode for this processor.
const char* fixedMode()
{
#if defined(__x86_64__)
    if (__builtin_cpu_is("intel") && __builtin_cpu_supports("avx512f")) {
        return "AVX512,STRICT";
    }
    if (__builtin_cpu_is("intel") && __builtin_cpu_supports("avx2")) {
        return "AVX2,STRICT";
    }
#endif
    return nullptr;
}

} // namespace

void prepareEnvironment()
{
    if (!hasSpinCount()) {
        setenv(kSpinCount, "100", 0); // rounds, under a microsecond: a thread that is nearly there is met awake
    }
    if (const char* const mode = fixedMode()) {
        setenv(kProductMode, mode, 0);
    }
    setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
    if (const auto place = rankPosition(); place && *place) {
        setenv("TORCH_CPP_LOG_LEVEL", "ERROR", 0);
    }
}

void startPrepared(char** arguments)
{
    const bool decided = hasSpinCount();
    prepareEnvironment();
    if (!decided && hasSpinCount() && dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD) != nullptr) {
        execv("/proc/self/exe", arguments);
    }
}

} // namespace residua::engine
