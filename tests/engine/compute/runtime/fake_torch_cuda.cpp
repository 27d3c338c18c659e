// SPDX-License-Identifier: GPL-3.0-or-later
// A stand-in for libtorch_cuda.so: registers what LibTorch looks for, and has no operators. Environment variables say
// what it answers.
#include "tests/engine/compute/runtime/fake_cuda.h"

#include <ATen/detail/CUDAHooksInterface.h>

#include <cstdlib>
#include <string>

namespace {

std::size_t mebibytes(const char* variable, std::size_t otherwise)
{
    const char* const text = std::getenv(variable);
    return (text != nullptr ? static_cast<std::size_t>(std::atoll(text)) : otherwise) << 20U;
}

residua::tests::FakeCuda& cuda()
{
    static residua::tests::FakeCuda made;
    made.allocator.free = mebibytes("FAKE_FREE_MIB", 8000);
    made.allocator.total = mebibytes("FAKE_TOTAL_MIB", 8192);
    made.allocator.reserved = static_cast<std::int64_t>(mebibytes("FAKE_RESERVED_MIB", 0));
    made.allocator.allocated = static_cast<std::int64_t>(mebibytes("FAKE_ALLOCATED_MIB", 0));
    const char* const problem = std::getenv("FAKE_MEMORY_PROBLEM");
    made.allocator.problem = problem != nullptr ? problem : "";
    return made;
}

[[maybe_unused]] const residua::tests::FakeCuda& kRegistered = cuda();

} // namespace

namespace at {

/// The name under which LibTorch looks for it.
struct CUDAHooks final : CUDAHooksInterface {
    explicit CUDAHooks(CUDAHooksArgs) {}
    void init() const override
    {
        const char* const problem = std::getenv("FAKE_CUDA_PROBLEM");
        TORCH_CHECK(problem == nullptr, problem != nullptr ? problem : "");
    }
    [[nodiscard]] bool hasCUDA() const override { return true; }
    [[nodiscard]] bool hasCUDART() const override { return true; }
};
REGISTER_CUDA_HOOKS(CUDAHooks)

} // namespace at
