// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compile/host_memory.h"

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
#include <vector>

namespace residua::engine {
namespace {

/// Below this the C library reuses memory well by itself.
constexpr std::size_t kSmallest = std::size_t{256} << 10;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
/// Blocks are kept while all of them together are within this of the most that was ever in use at once.
constexpr double kSlack = 1.25;
constexpr std::size_t kSlackBytes = std::size_t{64} << 20;

/// Sizes come in eighths of a power of two: at most 12.5 % is lost, and near sizes share blocks.
std::size_t classOf(std::size_t bytes)
{
    const std::size_t step = std::bit_floor(bytes) / 8;
    return (bytes + step - 1) / step * step;
}

class HostMemory final : public c10::Allocator {
public:
    c10::DataPtr allocate(std::size_t bytes) override
    {
        if (bytes < kSmallest) {
            void* const data = c10::alloc_cpu(bytes);
            return {data, data, &c10::free_cpu, c10::DeviceType::CPU};
        }
        Block* const block = take(classOf(bytes));
        return {block->data, block, &HostMemory::release, c10::DeviceType::CPU};
    }

    void copy_data(void* to, const void* from, std::size_t count) const override { std::memcpy(to, from, count); }

    [[nodiscard]] HostMemoryUse use() const
    {
        const std::scoped_lock lock(m_mutex);
        return {m_kept, m_used};
    }

private:
    struct Block {
        void* data;
        std::size_t bytes;
        HostMemory* owner;
    };

    Block* take(std::size_t bytes)
    {
        {
            const std::scoped_lock lock(m_mutex);
            m_used += bytes;
            m_mostUsed = std::max(m_mostUsed, m_used);
            std::vector<Block*>& blocks = m_free[bytes];
            if (!blocks.empty()) {
                Block* const block = blocks.back();
                blocks.pop_back();
                m_kept -= bytes;
                return block;
            }
            if (static_cast<double>(m_used + m_kept) > kSlack * static_cast<double>(m_mostUsed) + kSlackBytes) {
                dropKept();
            }
        }
        try {
            return new Block{fresh(bytes), bytes, this};
        } catch (...) {
            const std::scoped_lock lock(m_mutex);
            m_used -= bytes;
            throw;
        }
    }

    void* fresh(std::size_t bytes)
    {
        const std::size_t alignment = bytes >= kHugePage ? kHugePage : 64;
        void* data = nullptr;
        if (posix_memalign(&data, alignment, bytes) != 0) {
            const std::scoped_lock lock(m_mutex);
            dropKept();
            return c10::alloc_cpu(bytes); // The last try, and LibTorch's own error.
        }
        if (bytes >= kHugePage) {
            // A hint; without huge pages everything works, slower.
            (void)madvise(data, bytes, MADV_HUGEPAGE);
        }
        return data;
    }

    static void release(void* context)
    {
        auto* const block = static_cast<Block*>(context);
        HostMemory& owner = *block->owner;
        const std::scoped_lock lock(owner.m_mutex);
        owner.m_used -= block->bytes;
        owner.m_kept += block->bytes;
        owner.m_free[block->bytes].push_back(block);
    }

    /// The mutex is held.
    void dropKept()
    {
        for (auto& [bytes, blocks] : m_free) {
            for (const Block* const block : blocks) {
                std::free(block->data);
                delete block;
            }
            blocks.clear();
        }
        m_kept = 0;
    }

    mutable std::mutex m_mutex;
    std::map<std::size_t, std::vector<Block*>> m_free;
    std::size_t m_kept = 0;
    std::size_t m_used = 0;
    std::size_t m_mostUsed = 0;
};

/// Never destroyed: tensors in static storage may outlive anything.
HostMemory& hostMemory()
{
    static auto* const memory = new HostMemory;
    return *memory;
}

} // namespace

void keepHostMemory()
{
    c10::SetCPUAllocator(&hostMemory());
}

HostMemoryUse hostMemoryUse()
{
    return hostMemory().use();
}

} // namespace residua::engine
