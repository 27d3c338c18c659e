// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernels/types.h"

namespace residua::kernels {

/// Returns the number of items that make a range worth a thread.
inline std::int64_t grainFor(std::int64_t bytesPerItem)
{
    constexpr std::int64_t kGrainBytes = 128 * 1024;
    return bytesPerItem < kGrainBytes ? kGrainBytes / (bytesPerItem > 0 ? bytesPerItem : 1) : 1;
}

/// Calls body(begin, end) for ranges of [0, count), on the caller's threads or, without them, on this one.
template <class Body>
void forRange(const Parallel& parallel, std::int64_t count, std::int64_t grain, Body body)
{
    if (count <= 0)
        return;
    if (!parallel.run || count <= grain)
        return body(std::int64_t(0), count);
    parallel.run(
        parallel.context, count, grain,
        [](void* state, std::int64_t begin, std::int64_t end) { (*static_cast<Body*>(state))(begin, end); }, &body);
}

} // namespace residua::kernels
