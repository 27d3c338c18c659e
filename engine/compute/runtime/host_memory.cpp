// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/runtime/host_memory.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>

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
