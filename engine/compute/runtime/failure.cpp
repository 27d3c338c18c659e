// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/runtime/failure.h"

#include "engine/compute/runtime/cuda_backend.h"

#include <c10/util/Exception.h>

namespace residua::engine {

std::optional<Failure> attempt(const std::function<void()>& work)
{
    std::optional<Failure> ofTorch;
    std::optional<Failure> other = attemptStandard([&] {
        try {
            work();
        } catch (const c10::OutOfMemoryError& error) {
            ofTorch = noMemory(error.what_without_backtrace());
        } catch (const c10::Error& error) {
            ofTorch = failureOf(error.what_without_backtrace(), "LibTorch");
        }
    });
    if (ofTorch && ofTorch->kind == Failure::Kind::Other) {
        if (std::string lost = checkGpus(); !lost.empty()) {
            ofTorch->text = std::move(lost);
        }
    }
    return ofTorch ? ofTorch : other;
}

} // namespace residua::engine
