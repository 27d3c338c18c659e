// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/runtime/device.h"

#include "engine/base/machine/machine.h"
#include "engine/compute/runtime/cuda_backend.h"
#include "kernels/cuda_kernels.h"
#include "projects/base/text.h"

#include <ATen/Parallel.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

namespace residua::engine {
namespace {

constexpr const char* kCpuKey = "cpu";
constexpr const char* kCudaPrefix = "cuda:";
constexpr auto kAggregate = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
constexpr const char* kKernelLibrary = "libresidua_kernels_cuda.so";
constexpr const char* kKernelVariable = "RESIDUA_KERNELS";

DeviceMemory cpuMemory()
{
    const MachineMemory memory = machineMemory();
    return {.freeBytes = memory.freeBytes, .totalBytes = memory.totalBytes};
}

DeviceInfo cpuInfo()
{
    const int threads = at::get_num_threads();
    const DeviceMemory memory = cpuMemory();
    DeviceInfo info;
    info.key = kCpuKey;
    info.name = "CPU, " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
    info.freeBytes = memory.freeBytes;
    info.totalBytes = memory.totalBytes;
    info.usable = true;
    return info;
}

c10::Device cudaDevice(std::size_t index)
{
    return {c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(index)};
}

/// Returns the bytes that LibTorch's caching allocator keeps for future tensors. The driver counts them as used.
std::int64_t cachedBytes(c10::Device gpu)
{
    const auto stats = c10::getDeviceAllocator(gpu.type())->getDeviceStats(gpu.index());
    return stats.reserved_bytes[kAggregate].current - stats.allocated_bytes[kAggregate].current;
}

/// Returns why GPU number `index` cannot be used, and the remedy, in one line; empty if it can.
std::string gpuProblem(std::size_t index)
{
    const GpuDriver driver = queryGpuDriver();
    const std::size_t count = driver.gpus.size();
    if (driver.reason.empty() && index >= count) {
        return count == 1
                   ? "there is one GPU, cuda:0"
                   : "there are " + std::to_string(count) + " GPUs, the last is cuda:" + std::to_string(count - 1);
    }
    if (driver.reason.empty() && !driver.gpus[index].reason.empty()) {
        return driver.gpus[index].reason;
    }
    return loadCudaBackend(); // also says why the driver has no GPU
}

struct KernelLibrary {
    const kernels::CudaKernels* table = nullptr;
    std::string why;
};

KernelLibrary findKernelLibrary()
{
    KernelLibrary library;
    const char* const named = std::getenv(kKernelVariable);
    library.why = named != nullptr
                      ? std::string(kKernelVariable) + " names no file: " + named
                      : std::string(kKernelLibrary) + " is not beside the program: build it, or install it again";
    const std::filesystem::path path = findOwnLibrary(kKernelLibrary, kKernelVariable, "kernels");
    if (!path.empty()) {
        library.why.clear();
        library.table = kernels::loadCudaKernels(path.string(), library.why);
    }
    return library;
}

} // namespace

int useThreads(int count)
{
    if (count > 0) {
        at::set_num_threads(count);
    }
    return at::get_num_threads();
}

std::vector<DeviceInfo> listDevices()
{
    std::vector<DeviceInfo> devices{cpuInfo()};
    const GpuDriver driver = queryGpuDriver();
    const std::string problem = loadCudaBackend();
    for (std::size_t index = 0; index < std::max<std::size_t>(driver.gpus.size(), 1); ++index) {
        DeviceInfo info;
        info.key = kCudaPrefix + std::to_string(index);
        info.name = "NVIDIA GPU";
        if (index < driver.gpus.size()) {
            info.name = driver.gpus[index].name;
            info.freeBytes = driver.gpus[index].freeBytes;
            info.totalBytes = driver.gpus[index].totalBytes;
        }
        const bool tooOld = index < driver.gpus.size() && !driver.gpus[index].reason.empty();
        info.reason = tooOld ? driver.gpus[index].reason : problem;
        info.usable = info.reason.empty();
        if (info.usable) {
            info.freeBytes += cachedBytes(cudaDevice(index));
            static_cast<void>(cudaKernels(info.withoutKernels));
        }
        devices.push_back(std::move(info));
    }
    return devices;
}

Result<c10::Device> openDevice(const std::string& key)
{
    if (key == kCpuKey) {
        return c10::Device(c10::DeviceType::CPU);
    }
    const std::string prefix = kCudaPrefix;
    const std::string_view number = std::string_view(key).substr(std::min(prefix.size(), key.size()));
    const auto index = key == "cuda"             ? std::optional(std::size_t{0})
                       : key.starts_with(prefix) ? numberFrom<std::size_t>(number)
                                                 : std::nullopt;
    if (!index) {
        return Error{"device", "unknown device \"" + key + "\", expected cpu or cuda:N"};
    }
    const std::string problem = gpuProblem(*index);
    return problem.empty() ? Result<c10::Device>(cudaDevice(*index))
                           : Result<c10::Device>(Error{"device " + key, problem});
}

DeviceMemory memoryOf(c10::Device device)
{
    if (device.is_cpu()) {
        return cpuMemory();
    }
    c10::DeviceAllocator* const allocator = c10::getDeviceAllocator(device.type());
    const auto [free, total] = allocator->getMemoryInfo(device.index());
    const auto reserved = allocator->getDeviceStats(device.index()).reserved_bytes[kAggregate].current;
    DeviceMemory memory;
    memory.freeBytes = static_cast<std::int64_t>(free) + cachedBytes(device);
    memory.totalBytes = static_cast<std::int64_t>(total);
    memory.othersBytes = std::max<std::int64_t>(memory.totalBytes - static_cast<std::int64_t>(free) - reserved, 0);
    return memory;
}

std::int64_t peakBytes(c10::Device device)
{
    if (device.is_cpu()) {
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
    }
    const auto stats = c10::getDeviceAllocator(device.type())->getDeviceStats(device.index());
    return stats.allocated_bytes[kAggregate].peak;
}

void resetPeakBytes(c10::Device device)
{
    if (!device.is_cpu()) {
        c10::getDeviceAllocator(device.type())->resetPeakStats(device.index());
    }
}

void synchronise(c10::Device device)
{
    if (!device.is_cpu()) {
        c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
    }
}

const kernels::CudaKernels* cudaKernels(std::string& why)
{
    static const KernelLibrary library = findKernelLibrary();
    why = library.why;
    return library.table;
}

} // namespace residua::engine
