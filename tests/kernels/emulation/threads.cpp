// SPDX-License-Identifier: GPL-3.0-or-later
// The threads of a block as fibers, their barriers and warp operations. A fiber runs until it has to wait; then the
// next one that can run takes over, of the same warp if there is one.
#include "tests/kernels/emulation/cuda_pipeline.h"
#include "tests/kernels/emulation/emulator.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <csetjmp>
#include <memory>
#include <system_error>
#include <ucontext.h>
#include <vector>

namespace residua::emulation {

Indices indices{};
Thread running{};

namespace {

constexpr std::size_t kGuardBytes = 4096;

struct AsyncCopy {
    void* to;
    const void* from;
    std::size_t bytes;
    std::size_t group;
};

struct Fiber {
    unsigned char* stack = nullptr;
    bool started = false;
    jmp_buf registers;
    uint3 index;
    std::vector<AsyncCopy> copies;
    std::size_t committed = 0;
};

struct Warp {
    std::uint32_t ready;     ///< lanes that can run
    std::uint32_t atBarrier; ///< lanes that wait in __syncthreads
    std::uint32_t arrived;   ///< lanes that have given their value to the pending warp operation
    std::uint32_t mask;      ///< of the pending warp operation
    unsigned turn;           ///< number of warp operations so far
    unsigned phase;          ///< number of __syncwarp so far
    std::uint64_t value[2][32];
};

struct Block {
    LaunchCall call;
    unsigned threads;
    unsigned alive;
    unsigned waiting; ///< at the barrier
    std::vector<Warp> warps;
    bool abandoned;
};

Fiber fibers[kMaxThreads];
Block block;
jmp_buf scheduler;
ucontext_t* starter = nullptr;

Warp& ownWarp()
{
    return block.warps[running.number / 32];
}

std::uint32_t ownBit()
{
    return 1u << running.number % 32;
}

[[noreturn]] void resume(unsigned number)
{
    running = {number, &block.warps[number / 32].phase, fibers[number].stack};
    threadIdx = fibers[number].index;
    _longjmp(fibers[number].registers, 1);
}

void releaseBarrier()
{
    for (Warp& warp : block.warps) {
        warp.ready |= warp.atBarrier;
        warp.atBarrier = 0;
    }
    block.waiting = 0;
    nextPhase();
}

/// Runs the next thread that can run: of this warp, else of the first warp that has one.
[[noreturn]] void runNext()
{
    const std::size_t own = running.number / 32;
    if (const std::uint32_t ready = block.warps[own].ready) {
        // The next lane around the warp, so that all lanes come to a warp operation in turn.
        const std::uint32_t after = ready & ~(ownBit() | (ownBit() - 1));
        resume(unsigned(own * 32) + unsigned(std::countr_zero(after ? after : ready)));
    }
    for (std::size_t w = 0; w < block.warps.size(); ++w)
        if (const std::uint32_t ready = block.warps[w].ready)
            resume(unsigned(w * 32) + unsigned(std::countr_zero(ready)));
    if (block.alive == 0)
        _longjmp(scheduler, 1);
    report(block.waiting > 0 ? "some threads wait at __syncthreads, the others at a warp operation"
                             : "lanes of a warp wait for others that never come");
    abandonBlock();
}

void yield()
{
    if (_setjmp(fibers[running.number].registers) == 0)
        runNext();
}

[[noreturn]] void finishThread()
{
    Fiber& self = fibers[running.number];
    self.copies.clear();
    self.committed = 0;
    ownWarp().ready &= ~ownBit();
    --block.alive;
    // A thread that has ended no longer holds the others up.
    if (block.waiting > 0 && block.waiting == block.alive)
        releaseBarrier();
    runNext();
}

void move(const AsyncCopy& copy, const void* code)
{
    touch(copy.from, copy.bytes, Access::Read, code);
    std::memcpy(copy.to, copy.from, copy.bytes);
}

/// Each lane of `mask` gives a value and gets the values of all, [32].
const std::uint64_t* exchange(unsigned mask, std::uint64_t value, const void* code)
{
    Warp& warp = ownWarp();
    if (!(mask & ownBit()))
        report("a warp operation's mask lacks the calling lane", code);
    if (warp.arrived != 0 && warp.mask != mask)
        report("lanes of a warp come to one warp operation with different masks", code);
    const std::uint64_t* values = warp.value[warp.turn % 2];
    warp.value[warp.turn % 2][running.number % 32] = value;
    warp.mask = mask;
    warp.arrived |= ownBit();
    if ((warp.arrived & mask) != mask) {
        warp.ready &= ~ownBit();
        yield();
        return values;
    }
    warp.ready |= warp.arrived;
    warp.arrived = 0;
    ++warp.turn;
    return values;
}

/// A fiber's whole life: one kernel after the other.
void liveFiber()
{
    Fiber& self = fibers[running.number];
    if (_setjmp(self.registers) == 0)
        setcontext(starter);
    while (true) {
        block.call.call(block.call.kernel, block.call.arguments);
        if (_setjmp(self.registers) == 0)
            finishThread();
    }
}

void startFiber(unsigned number)
{
    Fiber& fiber = fibers[number];
    if (!fiber.stack) {
        void* memory = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED || mprotect(memory, kGuardBytes, PROT_NONE) != 0)
            throw std::system_error(errno, std::generic_category(), "stack of an emulated thread");
        fiber.stack = static_cast<unsigned char*>(memory);
    }
    ucontext_t here;
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = fiber.stack;
    // Stacks begin at different places of a page, so that they do not compete for the same lines of the cache.
    context.uc_stack.ss_size = kStackBytes - number % 64 * 1152;
    context.uc_link = nullptr;
    makecontext(&context, liveFiber, 0);
    running.number = number;
    starter = &here;
    swapcontext(&here, &context);
    fiber.started = true;
}

} // namespace

void runBlock(dim3 size, const LaunchCall& call)
{
    block = {call, size.x * size.y * size.z, size.x * size.y * size.z, 0, {}, false};
    block.warps.resize((block.threads + 31) / 32);
    for (unsigned number = 0; number < block.threads; ++number) {
        if (!fibers[number].started)
            startFiber(number);
        fibers[number].index = {number % size.x, number / size.x % size.y, number / (size.x * size.y)};
        block.warps[number / 32].ready |= 1u << number % 32;
    }
    if (_setjmp(scheduler) == 0)
        resume(0);
    // Threads in the middle of a kernel are given up.
    for (unsigned number = 0; block.abandoned && number < block.threads; ++number)
        fibers[number].started = false;
}

void abandonBlock()
{
    block.abandoned = true;
    _longjmp(scheduler, 1);
}

int lane()
{
    return int(running.number % 32);
}

std::uint64_t shuffleBits(unsigned mask, std::uint64_t value, int from)
{
    const std::uint64_t* values = exchange(mask, value, __builtin_return_address(0));
    if (mask >> from & 1)
        return values[from];
    report("a shuffle reads a lane that its mask lacks", __builtin_return_address(0));
    return 0;
}

namespace {

/// Returns one of the two bfloat16 numbers of a word.
double halfOf(std::uint32_t word, int half)
{
    return double(std::bit_cast<float>(half == 0 ? word << 16 : word & 0xffff0000u));
}

} // namespace

void multiplyAdd(float (&sums)[4], const std::uint32_t (&left)[4], const std::uint32_t (&right)[2])
{
    struct Factors {
        const std::uint32_t* left;  // [4]
        const std::uint32_t* right; // [2]
    };
    const Factors own{left, right};
    const void* const code = __builtin_return_address(0);
    const std::uint64_t* given = exchange(0xffffffffu, reinterpret_cast<std::uintptr_t>(&own), code);
    const auto factorsOf = [&](int lane) { return *reinterpret_cast<const Factors*>(given[lane]); };
    double total[4];
    for (int i = 0; i < 4; ++i) {
        const int row = lane() / 4 + i / 2 * 8;
        const int column = lane() % 4 * 2 + i % 2;
        total[i] = sums[i];
        for (int k = 0; k < 16; ++k) {
            const Factors a = factorsOf(row % 8 * 4 + k % 8 / 2);
            const Factors b = factorsOf(column * 4 + k % 8 / 2);
            total[i] += halfOf(a.left[row / 8 + k / 8 * 2], k % 2) * halfOf(b.right[k / 8], k % 2);
        }
    }
    exchange(0xffffffffu, 0, code); // no lane's factors may change before all have read them
    for (int i = 0; i < 4; ++i)
        sums[i] = float(total[i]);
}

namespace {

/// Returns the addresses of the rows, from all lanes.
const std::uint64_t* rowsOf(const void* row, const void* code)
{
    if (reinterpret_cast<std::uintptr_t>(row) % 16 != 0)
        report("ldmatrix takes rows of 16 aligned bytes", code);
    return exchange(0xffffffffu, reinterpret_cast<std::uintptr_t>(row), code);
}

/// Returns `bytes` bytes of shared memory, at most 4.
std::uint32_t loadWord(std::uint64_t row, std::size_t offset, std::size_t bytes, const void* code)
{
    const auto* from = reinterpret_cast<const unsigned char*>(row) + offset;
    touch(from, bytes, Access::Read, code);
    std::uint32_t word = 0;
    std::memcpy(&word, from, bytes);
    return word;
}

} // namespace

void loadMatrices(std::uint32_t (&words)[4], const void* row)
{
    const void* const code = __builtin_return_address(0);
    const std::uint64_t* rows = rowsOf(row, code);
    for (int matrix = 0; matrix < 4; ++matrix)
        words[matrix] = loadWord(rows[matrix * 8 + lane() / 4], std::size_t(lane() % 4 * 4), 4, code);
}

void loadTransposedMatrices(std::uint32_t (&words)[4], const void* row)
{
    const void* const code = __builtin_return_address(0);
    const std::uint64_t* rows = rowsOf(row, code) + lane() % 4 * 2;
    const std::size_t column = std::size_t(lane() / 4 * 2);
    for (int matrix = 0; matrix < 4; ++matrix)
        words[matrix] = loadWord(rows[matrix * 8], column, 2, code) | loadWord(rows[matrix * 8 + 1], column, 2, code)
                                                                          << 16;
}

} // namespace residua::emulation

using namespace residua::emulation;

void __syncthreads()
{
    ownWarp().ready &= ~ownBit();
    ownWarp().atBarrier |= ownBit();
    if (++block.waiting == block.alive)
        releaseBarrier();
    else
        yield();
}

void __syncwarp(unsigned mask)
{
    const unsigned phase = ownWarp().phase;
    exchange(mask, 0, __builtin_return_address(0));
    ownWarp().phase = phase + 1;
}

unsigned __ballot_sync(unsigned mask, int predicate)
{
    const std::uint64_t* given = exchange(mask, predicate != 0, __builtin_return_address(0));
    unsigned lanes = 0;
    for (int lane = 0; lane < 32; ++lane)
        lanes |= (mask >> lane & 1) && given[lane] ? 1u << lane : 0;
    return lanes;
}

void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes)
{
    const bool sized = bytes == 4 || bytes == 8 || bytes == 16;
    if (!sized || (reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from)) % bytes != 0)
        report("cp.async takes 4, 8 or 16 aligned bytes", __builtin_return_address(0));
    const AsyncCopy copy{to, from, bytes, fibers[running.number].committed};
    touch(to, bytes, Access::Issue, __builtin_return_address(0));
    if (copiesLandAtOnce())
        move(copy, __builtin_return_address(0));
    fibers[running.number].copies.push_back(copy);
}

void __pipeline_commit()
{
    ++fibers[running.number].committed;
}

void __pipeline_wait_prior(std::size_t groups)
{
    Fiber& self = fibers[running.number];
    const auto done = [&](const AsyncCopy& copy) { return copy.group + groups < self.committed; };
    for (const AsyncCopy& copy : self.copies)
        if (done(copy)) {
            if (!copiesLandAtOnce())
                move(copy, __builtin_return_address(0));
            touch(copy.to, copy.bytes, Access::Write, __builtin_return_address(0));
        }
    std::erase_if(self.copies, done);
}
