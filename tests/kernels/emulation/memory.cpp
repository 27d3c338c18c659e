// SPDX-License-Identifier: GPL-3.0-or-later
// The emulated device's memory, the record of who has touched it, and the functions that the compiler calls at each
// access under -fsanitize=thread, alignment and bounds.
#include "tests/kernels/emulation/emulator.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <cerrno>
#include <map>
#include <sstream>
#include <system_error>
#include <vector>

namespace residua::emulation {
namespace {

constexpr std::size_t kGranule = 2;     ///< bytes: the smallest element of our kernels
constexpr std::size_t kGap = 64 * 1024; ///< between allocations; what runs over ends there
constexpr std::size_t kSharedBytes = 256 * 1024;
constexpr std::size_t kArenaBytes = std::size_t(1) << 30;
constexpr std::size_t kFirstGlobal = kGap + kSharedBytes + kGap;

/// A thread in its warp's phase, in 16 bits.
using Toucher = std::uint16_t;
constexpr unsigned kThreadBits = 10;

Toucher runningToucher()
{
    return Toucher(running.number | *running.warpPhase << kThreadBits);
}

unsigned threadOf(Toucher toucher)
{
    return toucher & ((1u << kThreadBits) - 1);
}

bool ofOneWarp(Toucher a, Toucher b)
{
    return threadOf(a) / 32 == threadOf(b) / 32;
}

/// True if both are the same thread, or of one warp in different phases of it.
bool ordered(Toucher a, Toucher b)
{
    return threadOf(a) == threadOf(b) || (ofOneWarp(a, b) && a >> kThreadBits != b >> kThreadBits);
}

/// The last accesses to a granule. Epochs count launches, blocks and barriers; 0 is never.
struct Cell {
    std::uint32_t written;
    std::uint32_t read;
    std::uint32_t readByOthers; ///< the last epoch of an earlier block that read it
    Toucher writer;
    Toucher reader;
    Toucher otherReader; ///< of the same epoch: one of another warp if there is, else one not ordered with the first
};

/// Memory with a cell for each granule.
struct Region {
    const unsigned char* base = nullptr;
    std::size_t bytes = 0;
    Cell* cells = nullptr;
};

template <class T>
T* reserve(std::size_t count)
{
    void* memory =
        mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        throw std::system_error(errno, std::generic_category(), "memory of the emulated device");
    return static_cast<T*>(memory);
}

struct Device {
    unsigned char* memory = reserve<unsigned char>(kArenaBytes);
    Cell* cells = reserve<Cell>(kArenaBytes / kGranule);
    std::uint8_t* allocated = reserve<std::uint8_t>(kArenaBytes / kGranule);
    std::map<void*, std::size_t> allocations;
    std::size_t top = kFirstGlobal;
    Region staticShared;
    std::vector<Cell> staticCells;
    std::size_t dynamicSharedBytes = 0;
    bool launched = false;
    std::uint32_t launches = 0;
    std::uint32_t epoch = 0;
    std::uint32_t launchStart = 0;
    std::uint32_t blockStart = 0;
    std::string finding;
};

Device device;

std::string place(unsigned x, unsigned y, unsigned z)
{
    std::ostringstream text;
    text << '(' << x << ", " << y << ", " << z << ')';
    return text.str();
}

bool ofEarlierBlock(std::uint32_t epoch)
{
    return epoch >= device.launchStart && epoch < device.blockStart;
}

bool racesWithWrite(const Cell& cell, Toucher self, bool shared)
{
    return (cell.written == device.epoch && !ordered(cell.writer, self)) || (!shared && ofEarlierBlock(cell.written));
}

bool racesWithRead(const Cell& cell, Toucher self, bool shared)
{
    const bool now = cell.read == device.epoch && !(ordered(cell.reader, self) && ordered(cell.otherReader, self));
    return now || (!shared && (ofEarlierBlock(cell.read) || ofEarlierBlock(cell.readByOthers)));
}

void recordRead(Cell& cell, Toucher self)
{
    if (cell.read == device.epoch) {
        const bool needed = ofOneWarp(cell.otherReader, self) && !ordered(cell.reader, self);
        if (needed || !ofOneWarp(cell.reader, self))
            cell.otherReader = cell.reader;
    } else {
        if (ofEarlierBlock(cell.read))
            cell.readByOthers = cell.read;
        cell.otherReader = self;
    }
    cell.read = device.epoch;
    cell.reader = self;
}

/// Records an access; returns null, or what is wrong with it.
const char* check(Cell& cell, Toucher self, Access access, bool shared)
{
    const bool write = access != Access::Read;
    const bool uninitialised = shared && !write && cell.written < device.blockStart;
    const bool race = racesWithWrite(cell, self, shared) || (write && racesWithRead(cell, self, shared));
    if (write) {
        cell.written = access == Access::Issue ? 0 : device.epoch;
        cell.writer = self;
    } else {
        recordRead(cell, self);
    }
    return uninitialised ? "read of uninitialised " : race ? "race in " : nullptr;
}

} // namespace

void report(const std::string& finding, const void* code)
{
    if (!device.finding.empty())
        return;
    std::ostringstream text;
    text << finding << ", thread " << place(threadIdx.x, threadIdx.y, threadIdx.z) << " of block "
         << place(blockIdx.x, blockIdx.y, blockIdx.z);
    Dl_info image{};
    if (code && dladdr(code, &image))
        text << ", code at " << image.dli_fname << "+0x" << std::hex
             << static_cast<const char*>(code) - static_cast<const char*>(image.dli_fbase);
    device.finding = text.str();
}

const std::string& firstReport()
{
    return device.finding;
}

bool isDevice(const void* address, std::size_t bytes)
{
    const std::size_t offset = std::size_t(static_cast<const unsigned char*>(address) - device.memory);
    if (offset < kFirstGlobal || offset >= kArenaBytes || bytes > kArenaBytes - offset)
        return false;
    for (std::size_t i = offset / kGranule; i < (offset + bytes + kGranule - 1) / kGranule; ++i)
        if (!device.allocated[i])
            return false;
    return true;
}

void beginLaunch(const LaunchCall& call, std::size_t dynamicSharedBytes)
{
    device.launched = true;
    ++device.launches;
    device.finding.clear();
    device.launchStart = ++device.epoch;
    device.dynamicSharedBytes = dynamicSharedBytes;
    device.staticCells.assign(call.staticSharedBytes / kGranule + 1, Cell{});
    device.staticShared = {call.staticShared, call.staticSharedBytes, device.staticCells.data()};
}

bool copiesLandAtOnce()
{
    // By a mixed bit, so that the kernels of a test that takes turns meet both.
    return device.launches * 0x9e3779b9U >> 31 != 0;
}

void endLaunch()
{
    device.launched = false;
}

void beginBlock()
{
    device.blockStart = ++device.epoch;
}

void nextPhase()
{
    ++device.epoch;
}

unsigned char* dynamicShared()
{
    return device.memory + kGap;
}

void touch(const void* address, std::size_t bytes, Access access, const void* code)
{
    if (!device.launched)
        return;
    const char* kind = "shared memory";
    Cell* cells = nullptr;
    const std::size_t inArena = std::size_t(static_cast<const unsigned char*>(address) - device.memory);
    const std::size_t inStatic = std::size_t(static_cast<const unsigned char*>(address) - device.staticShared.base);
    std::size_t offset = inArena - kGap;
    if (offset < device.dynamicSharedBytes && bytes <= device.dynamicSharedBytes - offset) {
        cells = device.cells + inArena / kGranule;
    } else if (inStatic < device.staticShared.bytes) {
        cells = device.staticShared.cells + inStatic / kGranule;
        offset = inStatic;
    } else if (inArena < kArenaBytes && isDevice(address, bytes)) {
        kind = "global memory";
        cells = device.cells + inArena / kGranule;
        offset = inArena;
    } else {
        report(std::string(access == Access::Read ? "read" : "write") + " out of bounds", code);
        abandonBlock();
    }
    const bool shared = kind[0] == 's';
    const Toucher self = runningToucher();
    const std::size_t count = (offset % kGranule + bytes + kGranule - 1) / kGranule;
    for (std::size_t i = 0; i < count; ++i)
        if (const char* what = check(cells[i], self, access, shared))
            report(std::string(what) + kind + " at byte " + std::to_string(offset), code);
}

} // namespace residua::emulation

using namespace residua::emulation;

cudaError_t cudaMalloc(void** memory, std::size_t bytes)
{
    const std::size_t size = (bytes + 255) / 256 * 256;
    if (size > kArenaBytes - kGap - device.top)
        return cudaErrorMemoryAllocation;
    *memory = device.memory + device.top;
    std::memset(device.allocated + device.top / kGranule, 1, (bytes + kGranule - 1) / kGranule);
    device.allocations[*memory] = bytes;
    device.top += size + kGap;
    return cudaSuccess;
}

cudaError_t cudaFree(void* memory)
{
    const auto found = device.allocations.find(memory);
    if (found == device.allocations.end())
        return cudaErrorInvalidValue;
    const std::size_t offset = std::size_t(static_cast<unsigned char*>(memory) - device.memory);
    std::memset(device.allocated + offset / kGranule, 0, (found->second + kGranule - 1) / kGranule);
    device.allocations.erase(found);
    // Addresses are used again only when nothing is left, so that a use after the release is found.
    if (device.allocations.empty())
        device.top = kFirstGlobal;
    return cudaSuccess;
}
