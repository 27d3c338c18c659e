// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace residua::engine {

struct MachineMemory {
    std::int64_t freeBytes = 0;
    std::int64_t totalBytes = 0; ///< 0: not known
};
/// What this process could take now: what the kernel, the control group and a limit on its addresses leave. Any thread.
[[nodiscard]] MachineMemory machineMemory();

} // namespace residua::engine
