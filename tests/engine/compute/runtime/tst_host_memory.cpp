// SPDX-License-Identifier: GPL-3.0-or-later
// Memory of host tensors: kept for the next of its size, bounded, and plain for small ones.
#include "engine/compute/runtime/compute.h"
#include "tests/support/test_program.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <QtTest>

#include <cstdint>
#include <thread>

using namespace residua::engine;

namespace {

constexpr std::int64_t kMegabyte = 1 << 20;

at::Tensor bytes(std::int64_t count)
{
    return at::empty({count}, at::kByte);
}

} // namespace

class TestHostMemory : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        keepHostMemory();
        keepHostMemory(); // Again does nothing.
    }

    void aBlockIsFoundAgain()
    {
        at::Tensor first = bytes(3 * kMegabyte);
        const void* const data = first.data_ptr();
        first.reset();
        QVERIFY(hostMemoryUse().kept >= 3 * kMegabyte);
        const at::Tensor second = bytes(3 * kMegabyte - 1000); // Of the same class.
        QCOMPARE(second.data_ptr(), data);
        QVERIFY(bytes(3 * kMegabyte).data_ptr() != data);
    }

    void everyBlockIsAlignedAndWritable()
    {
        for (const std::int64_t count :
             {std::int64_t{1}, std::int64_t{1000}, kMegabyte / 4, kMegabyte + 7, 5 * kMegabyte}) {
            at::Tensor tensor = bytes(count);
            QCOMPARE(reinterpret_cast<std::uintptr_t>(tensor.data_ptr()) % 64, std::uintptr_t{0});
            tensor.fill_(7);
            QCOMPARE(tensor[count - 1].item<int>(), 7);
        }
        QVERIFY(bytes(0).numel() == 0);
    }

    void useIsCounted()
    {
        const std::size_t before = hostMemoryUse().used;
        const at::Tensor tensor = bytes(4 * kMegabyte);
        QCOMPARE(hostMemoryUse().used - before, static_cast<std::size_t>(4 * kMegabyte));
        const at::Tensor small = bytes(1000);
        QCOMPARE(hostMemoryUse().used - before, static_cast<std::size_t>(4 * kMegabyte));
    }

    /// Allocates tensors of many sizes one at a time. The kept memory must not accumulate.
    void keptMemoryIsBounded()
    {
        std::size_t most = 0;
        for (std::int64_t size = 8 * kMegabyte; size <= 64 * kMegabyte; size += kMegabyte) {
            const at::Tensor tensor = bytes(size);
            most = std::max(most, hostMemoryUse().kept + hostMemoryUse().used);
        }
        QVERIFY2(most <= static_cast<std::size_t>(72 * kMegabyte) * 5 / 4 + 64 * kMegabyte,
                 std::to_string(most).c_str());
    }

    void anyThreadMayFree()
    {
        at::Tensor tensor = bytes(6 * kMegabyte);
        const void* const data = tensor.data_ptr();
        std::thread([moved = std::move(tensor)]() mutable { moved.reset(); }).join();
        QCOMPARE(bytes(6 * kMegabyte).data_ptr(), data);
    }
};

RESIDUA_TEST(TestHostMemory)
#include "tst_host_memory.moc"
