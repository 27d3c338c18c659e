// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/api/host_threads.h"

#include <unistd.h>

#include <cstdlib>

namespace residua::engine {

void restartWithShortSpins(char** arguments)
{
    constexpr const char* kSpinCount = "GOMP_SPINCOUNT";
    if (std::getenv(kSpinCount) != nullptr || std::getenv("OMP_WAIT_POLICY") != nullptr) {
        return;
    }
    // Rounds of the spin, under a microsecond: a thread that is nearly there is still met awake.
    if (setenv(kSpinCount, "100", 0) == 0) {
        execv("/proc/self/exe", arguments);
    }
}

} // namespace residua::engine
