// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace residua::engine {

struct MachineMemory {
    std::int64_t freeBytes = 0;
    std::int64_t totalBytes = 0; ///< 0: unknown
};
/// Returns the memory that this process can still allocate, given the kernel, the control group and the limit of its
/// address space. Any thread.
[[nodiscard]] MachineMemory machineMemory();

} // namespace residua::engine
