// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

namespace residua::engine {

/// Memory of host tensors that is kept when they go, so that the next step finds it: a step frees and asks again for
/// hundreds of megabytes in the same sizes, and fresh pages would cost it as much as its arithmetic on small layers.
/// Big blocks are backed by huge pages where the system has them.
///
/// Becomes LibTorch's allocator for the CPU, for the life of the process, unless the environment has
/// RESIDUA_KEEP_MEMORY=0, which leaves LibTorch its own. Calling it again does nothing. Any thread.
void keepHostMemory();

/// What is kept and what is in use now, in bytes, of blocks big enough to be kept.
struct HostMemoryUse {
    std::size_t kept = 0;
    std::size_t used = 0;
};
[[nodiscard]] HostMemoryUse hostMemoryUse();

} // namespace residua::engine
