// SPDX-License-Identifier: GPL-3.0-or-later
// A stand-in for LibTorch's CUDA backend, as far as our code asks it: current device, streams, waiting, memory. Tensors
// stay on the CPU.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

namespace residua::tests {

/// Two GPUs. Waiting for one throws `lost` as CUDA's error, unless it is empty.
class FakeGuard final : public c10::impl::DeviceGuardImplInterface {
public:
    [[nodiscard]] c10::DeviceType type() const override { return c10::DeviceType::CUDA; }
    [[nodiscard]] c10::Device exchangeDevice(c10::Device device) const override
    {
        return std::exchange(m_current, device);
    }
    [[nodiscard]] c10::Device getDevice() const override { return m_current; }
    void setDevice(c10::Device device) const override { m_current = device; }
    void uncheckedSetDevice(c10::Device device) const noexcept override { m_current = device; }
    [[nodiscard]] c10::Stream getStream(c10::Device device) const override
    {
        return c10::Stream(c10::Stream::DEFAULT, device);
    }
    [[nodiscard]] c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
    [[nodiscard]] void* getStreamNativeHandle(const c10::Stream) const override { return nullptr; }
    [[nodiscard]] c10::DeviceIndex deviceCount() const noexcept override { return 2; }
    void synchronizeDevice(const c10::DeviceIndex) const override { TORCH_CHECK(lost.empty(), "CUDA error: ", lost); }

    std::string lost;

private:
    static inline thread_local c10::Device m_current{c10::DeviceType::CUDA, 0}; ///< each thread has its own, as in CUDA
};

/// Memory of the GPUs in bytes. Asking for it throws `problem`, unless it is empty.
class FakeAllocator final : public c10::DeviceAllocator {
public:
    [[nodiscard]] c10::DataPtr allocate(std::size_t bytes) override
    {
        void* const memory = std::malloc(bytes);
        return {memory, memory, &std::free, c10::Device(c10::DeviceType::CUDA, 0)};
    }
    void copy_data(void*, const void*, std::size_t) const override {}
    [[nodiscard]] bool initialized() override { return true; }
    void emptyCache(c10::MempoolId_t) override {}
    void recordStream(const c10::DataPtr&, c10::Stream) override {}
    [[nodiscard]] c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex) override
    {
        c10::CachingDeviceAllocator::DeviceStats stats;
        const auto whole = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
        stats.allocated_bytes[whole].current = allocated;
        stats.reserved_bytes[whole].current = reserved;
        return stats;
    }
    void resetAccumulatedStats(c10::DeviceIndex) override {}
    void resetPeakStats(c10::DeviceIndex) override {}
    [[nodiscard]] std::pair<std::size_t, std::size_t> getMemoryInfo(c10::DeviceIndex) override
    {
        TORCH_CHECK(problem.empty(), problem);
        return {free, total};
    }

    std::string problem;
    std::size_t free = 0;
    std::size_t total = 0;
    std::int64_t allocated = 0;
    std::int64_t reserved = 0;
};

/// Takes the place of the CUDA backend while it lives.
class FakeCuda {
public:
    FakeCuda() : m_guardBefore(registered().exchange(&guard)), m_allocatorBefore(c10::GetAllocator(kType))
    {
        c10::SetAllocator(kType, &allocator);
    }
    ~FakeCuda()
    {
        registered() = m_guardBefore;
        c10::SetAllocator(kType, m_allocatorBefore);
    }
    FakeCuda(const FakeCuda&) = delete;
    FakeCuda& operator=(const FakeCuda&) = delete;

    FakeGuard guard;
    FakeAllocator allocator;

private:
    static constexpr c10::DeviceType kType = c10::DeviceType::CUDA;
    static std::atomic<const c10::impl::DeviceGuardImplInterface*>& registered()
    {
        return c10::impl::device_guard_impl_registry.at(static_cast<std::size_t>(kType));
    }

    const c10::impl::DeviceGuardImplInterface* m_guardBefore;
    c10::Allocator* m_allocatorBefore;
};

} // namespace residua::tests
