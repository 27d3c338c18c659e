// SPDX-License-Identifier: GPL-3.0-or-later
// Stands in for CUDA's header of this name: cp.async. A copy is done when its thread waits for it, not before.
#pragma once

#include "tests/kernels/emulation/cuda_runtime.h"

#pragma GCC visibility push(default)
void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes);
void __pipeline_commit();
/// Returns when all but the newest `groups` committed groups of this thread are done.
void __pipeline_wait_prior(std::size_t groups);
#pragma GCC visibility pop
