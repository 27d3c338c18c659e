// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

namespace residua::engine {

/// An allocator that keeps the memory of freed host tensors for the next step. Each step frees and allocates hundreds
/// of megabytes in the same sizes, and new pages would cost as much as its arithmetic on small layers. Large blocks use
/// huge pages if the system has them.
///
/// Installs it as LibTorch's CPU allocator for the rest of the process, unless the environment variable
/// RESIDUA_KEEP_MEMORY is 0. Further calls do nothing. Any thread.
void keepHostMemory();

/// The bytes that are kept and in use, counting only blocks large enough to be kept.
struct HostMemoryUse {
    std::size_t kept = 0;
    std::size_t used = 0;
};
[[nodiscard]] HostMemoryUse hostMemoryUse();

} // namespace residua::engine
