// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

namespace residua::tests {

/// Enqueues a copy of `bytes` bytes of device memory on the default stream by a kernel that does nothing else, with
/// 16 bytes in each load. Both pointers are 16-byte aligned and `bytes` is a multiple of 16.
void copyByKernel(void* to, const void* from, std::size_t bytes);

} // namespace residua::tests
