// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runtime/device.h"

#include "engine/host/machine_memory.h"
#include "engine/host/own_library.h"
#include "engine/runtime/cuda_backend.h"
#include "kernels/cuda_kernels.h"
#include "projects/base/number_from.h"

#include <ATen/Parallel.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

namespace residua::engine {
namespace {

constexpr const char* kCpuKey = "cpu";
constexpr const char* kCudaPrefix = "cuda:";
constexpr const char* kKernelLibrary = "libresidua_kernels_cuda.so";

DeviceMemory cpuMemory()
{
    const MachineMemory memory = machineMemory();
    return {memory.freeBytes, memory.totalBytes};
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

struct KernelLibrary {
    const kernels::CudaKernels* table = nullptr;
    std::string why;
};

KernelLibrary findKernelLibrary()
{
    KernelLibrary library;
    library.why = std::string(kKernelLibrary) + " is not installed beside the program";
    const std::filesystem::path path = findOwnLibrary(kKernelLibrary, "RESIDUA_KERNELS", "kernels");
    if (!path.empty()) {
        library.why.clear();
        library.table = kernels::loadCudaKernels(path.string(), library.why);
    }
    return library;
}

} // namespace

void useThreads(int count)
{
    if (count > 0) {
        at::set_num_threads(count);
    }
}

std::vector<DeviceInfo> listDevices()
{
    std::vector<DeviceInfo> devices{cpuInfo()};
    const GpuDriver driver = queryGpuDriver();
    const std::string& problem = loadCudaBackend();
    for (std::size_t index = 0; index < std::max<std::size_t>(driver.gpus.size(), 1); ++index) {
        DeviceInfo info;
        info.key = kCudaPrefix + std::to_string(index);
        info.name = "NVIDIA GPU";
        if (index < driver.gpus.size()) {
            info.name = driver.gpus[index].name;
            info.freeBytes = driver.gpus[index].freeBytes;
            info.totalBytes = driver.gpus[index].totalBytes;
        }
        info.reason = problem;
        info.usable = problem.empty();
        if (info.usable) {
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
    if (const std::string& problem = loadCudaBackend(); !problem.empty()) {
        return Error{"device " + key, problem};
    }
    const std::size_t count = c10::impl::VirtualGuardImpl(c10::DeviceType::CUDA).deviceCount();
    if (*index >= count) {
        return Error{"device " + key, "there are " + std::to_string(count) + " GPUs, the first is cuda:0"};
    }
    return cudaDevice(*index);
}

DeviceMemory memoryOf(c10::Device device)
{
    if (device.is_cpu()) {
        return cpuMemory();
    }
    const auto [free, total] = c10::getDeviceAllocator(device.type())->getMemoryInfo(device.index());
    return {static_cast<std::int64_t>(free), static_cast<std::int64_t>(total)};
}

std::int64_t peakBytes(c10::Device device)
{
    if (device.is_cpu()) {
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
    }
    const auto stats = c10::getDeviceAllocator(device.type())->getDeviceStats(device.index());
    return stats.allocated_bytes[static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE)].peak;
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
