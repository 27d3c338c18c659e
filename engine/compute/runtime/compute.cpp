// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/runtime/compute.h"

#include "engine/base/machine/failure.h"
#include "engine/compute/runtime/cuda_backend.h"
#include "engine/compute/runtime/device.h"
#include "engine/compute/runtime/rounded_weights.h"

#include <ATen/Parallel.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/core/impl/alloc_cpu.h>
#include <c10/util/Exception.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace residua::engine {

namespace {

void runOnTorchThreads(void*, std::int64_t count, std::int64_t grain, kernels::Parallel::Body body, void* state)
{
    at::parallel_for(0, count, grain, [&](std::int64_t begin, std::int64_t end) { body(state, begin, end); });
}

} // namespace

std::string launchProblem(const kernels::CudaKernels& table, at::Device device)
{
    const c10::DeviceGuard current(device);
    const c10::DataPtr memory = c10::getDeviceAllocator(device.type())->allocate(3 * sizeof(float));
    float* const numbers = static_cast<float*>(memory.get());
    const void* const source = numbers;
    kernels::MixForward mix;
    mix.stack.tokens = 1;
    mix.stack.width = 1;
    mix.stack.sources = 1;
    mix.stack.outputs = 1;
    mix.stack.source = &source;
    mix.stack.weightKind = kernels::WeightKind::scalar;
    mix.stack.weights = numbers + 1;
    mix.out[0] = numbers + 2;
    const kernels::Status status = table.mixForward(mix, currentStream(device));
    if (status == kernels::Status::ok) {
        return {};
    }
    const bool byCuda = status == kernels::Status::deviceFailure;
    const std::string error = byCuda ? table.lastError() : kernels::describe(status);
    // A lack of memory is the run's own failure; its first tensor reports it.
    return failureOf(error, {}).kind == Failure::Kind::OutOfMemory
               ? std::string()
               : "they do not run on this GPU (" + error + "): build them for it (CMAKE_CUDA_ARCHITECTURES)";
}

Result<Compute> Compute::create(const std::string& device, projects::Precision precision,
                                projects::ResidualPrecision residual)
{
    static_cast<void>(loadCudaBackend()); // before the first backward, even one on the CPU
    const at::Device opened = RESIDUA_TRY(openDevice(device));
    keepHostMemory();
    Compute compute;
    compute.device = opened;
    if (precision == projects::Precision::Fp64) {
        compute.parameterType = at::kDouble;
    }
    compute.activationType = compute.parameterType;
    if (precision == projects::Precision::Fp8) {
        if (const std::string problem = eightBitProblem(compute.device); !problem.empty()) {
            return Error{"training · precision", problem};
        }
        compute.products = Products::EightBit;
    }
    if (projects::roundsToBf16(precision)) {
        compute.activationType = at::kBFloat16;
        compute.rounded = std::make_shared<RoundedWeights>();
    }
    compute.residualType =
        residual == projects::ResidualPrecision::Bf16 ? compute.activationType : compute.parameterType;
    if (compute.device.is_cuda()) {
        // Not an error: without these kernels, LibTorch's operators compute the same.
        const DeviceKernels& own = kernelsOn(compute.device);
        compute.cuda = own.table;
        compute.withoutKernels = own.why;
    }
    return compute;
}

kernels::Parallel torchThreads()
{
    return {&runOnTorchThreads, nullptr};
}

kernels::DataType kernelType(at::ScalarType type)
{
    switch (type) {
    case at::kFloat:
        return kernels::DataType::float32;
    case at::kBFloat16:
        return kernels::DataType::bfloat16;
    case at::kDouble:
        return kernels::DataType::float64;
    default:
        break;
    }
    TORCH_CHECK(false, "no kernel for element type ", type);
}

void checkKernel(kernels::Status status, const char* kernel, const kernels::CudaKernels* table)
{
    const bool byCuda = status == kernels::Status::deviceFailure && table != nullptr;
    TORCH_CHECK(status == kernels::Status::ok, kernel, ": ",
                byCuda ? std::string("CUDA error: ") + table->lastError() : kernels::describe(status));
}

const DeviceKernels& kernelsOn(at::Device device)
{
    static std::mutex mutex;
    static std::map<at::DeviceIndex, DeviceKernels> kernels;
    static const DeviceKernels kNone;
    if (!device.is_cuda()) {
        return kNone;
    }
    const std::lock_guard lock(mutex);
    const auto known = kernels.find(device.index());
    if (known != kernels.end()) {
        return known->second;
    }
    DeviceKernels own;
    own.table = cudaKernels(own.why);
    if (own.table != nullptr) {
        own.why = launchProblem(*own.table, device);
    }
    if (!own.why.empty()) {
        own.table = nullptr;
    }
    return kernels.emplace(device.index(), own).first->second;
}

void* currentStream(at::Device device)
{
    return c10::impl::VirtualGuardImpl(at::kCUDA).getStream(device).native_handle();
}

namespace {

/// Below this size the C library reuses memory well.
constexpr std::size_t kSmallest = std::size_t{256} << 10;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
/// Freed blocks are kept while all blocks together are within this factor of the peak memory in use.
constexpr double kSlack = 1.25;
constexpr std::size_t kSlackBytes = std::size_t{64} << 20;

/// Returns the size rounded up to an eighth of a power of two: wastes at most 12.5 % and lets similar sizes share
/// blocks.
std::size_t classOf(std::size_t bytes)
{
    const std::size_t step = std::bit_floor(bytes) / 8;
    return (bytes + step - 1) / step * step;
}

/// Identifies a block by its address alone, because LibTorch's raw allocations (scratch of its own kernels) have no
/// other context.
class HostMemory final : public c10::Allocator {
public:
    c10::DataPtr allocate(std::size_t bytes) override
    {
        void* const data = bytes < kSmallest ? c10::alloc_cpu(bytes) : take(classOf(bytes));
        return {data, data, raw_deleter(), c10::DeviceType::CPU};
    }

    c10::DeleterFnPtr raw_deleter() const override;

    void copy_data(void* to, const void* from, std::size_t count) const override { std::memcpy(to, from, count); }

    [[nodiscard]] HostMemoryUse use() const
    {
        const std::scoped_lock lock(m_mutex);
        return {m_kept, m_used};
    }

    void release(void* data)
    {
        {
            const std::scoped_lock lock(m_mutex);
            if (const auto found = m_lent.find(data); found != m_lent.end()) {
                const std::size_t bytes = found->second;
                m_lent.erase(found);
                m_used -= bytes;
                m_kept += bytes;
                m_free[bytes].push_back(data);
                return;
            }
        }
        c10::free_cpu(data);
    }

private:
    void* take(std::size_t bytes)
    {
        {
            const std::scoped_lock lock(m_mutex);
            std::vector<void*>& blocks = m_free[bytes];
            if (!blocks.empty()) {
                void* const block = blocks.back();
                blocks.pop_back();
                m_kept -= bytes;
                lend(block, bytes);
                return block;
            }
            const auto wanted = static_cast<double>(m_used + bytes + m_kept);
            const auto most = static_cast<double>(std::max(m_mostUsed, m_used + bytes));
            if (wanted > kSlack * most + kSlackBytes) {
                dropKept();
            }
        }
        void* const block = fresh(bytes);
        const std::scoped_lock lock(m_mutex);
        lend(block, bytes);
        return block;
    }

    void* fresh(std::size_t bytes)
    {
        const std::size_t alignment = bytes >= kHugePage ? kHugePage : 64;
        void* data = nullptr;
        if (posix_memalign(&data, alignment, bytes) != 0) {
            const std::scoped_lock lock(m_mutex);
            dropKept();
            return c10::alloc_cpu(bytes); // tries once more; if this fails, LibTorch reports the error
        }
        if (bytes >= kHugePage) {
            // Only a hint; without huge pages the memory is slower.
            (void)madvise(data, bytes, MADV_HUGEPAGE);
        }
        return data;
    }

    /// Requires the mutex.
    void lend(void* block, std::size_t bytes)
    {
        m_lent.emplace(block, bytes);
        m_used += bytes;
        m_mostUsed = std::max(m_mostUsed, m_used);
    }

    /// Requires the mutex.
    void dropKept()
    {
        for (auto& [bytes, blocks] : m_free) {
            std::for_each(blocks.begin(), blocks.end(), [](void* block) { std::free(block); });
            blocks.clear();
        }
        m_kept = 0;
    }

    mutable std::mutex m_mutex;
    std::map<std::size_t, std::vector<void*>> m_free;
    std::unordered_map<void*, std::size_t> m_lent;
    std::size_t m_kept = 0;
    std::size_t m_used = 0;
    std::size_t m_mostUsed = 0;
};

/// Never destroyed, because tensors in static storage may be destroyed later than any other object.
HostMemory& hostMemory()
{
    static auto* const memory = new HostMemory;
    return *memory;
}

c10::DeleterFnPtr HostMemory::raw_deleter() const
{
    return [](void* data) { hostMemory().release(data); };
}

} // namespace

void keepHostMemory()
{
    static const bool wanted = [] {
        const char* const said = std::getenv("RESIDUA_KEEP_MEMORY");
        return said == nullptr || std::string_view(said) != "0";
    }();
    if (wanted) {
        c10::SetCPUAllocator(&hostMemory());
    }
}

HostMemoryUse hostMemoryUse()
{
    return hostMemory().use();
}

} // namespace residua::engine
