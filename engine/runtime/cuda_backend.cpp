// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runtime/cuda_backend.h"

#include <ATen/Context.h>

#include <dlfcn.h>

#include <array>
#include <exception>
#include <filesystem>

namespace residua::engine {
namespace {

// The parts of the driver's and of NVML's stable C interfaces that are used; their headers are not needed.
using DriverResult = int;
constexpr DriverResult kDriverOk = 0;
constexpr DriverResult kDriverNoDevice = 100;
constexpr DriverResult kDriverMismatch = 803;
constexpr int kNeededCuda = 13000;

struct NvmlMemory {
    unsigned long long total = 0;
    unsigned long long free = 0;
    unsigned long long used = 0;
};

template <class Function>
Function* symbol(void* library, const char* name)
{
    return reinterpret_cast<Function*>(dlsym(library, name));
}

std::string cudaVersionText(int version)
{
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// Free memory by NVML, which needs no context on the device; -1 where it cannot say.
std::int64_t freeBytesByNvml(const char* busId)
{
    static void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        return -1;
    }
    const auto init = symbol<int()>(library, "nvmlInit_v2");
    const auto handleOf = symbol<int(const char*, void**)>(library, "nvmlDeviceGetHandleByPciBusId_v2");
    const auto memoryOf = symbol<int(void*, NvmlMemory*)>(library, "nvmlDeviceGetMemoryInfo");
    void* handle = nullptr;
    NvmlMemory memory;
    if (init == nullptr || handleOf == nullptr || memoryOf == nullptr || init() != 0 || handleOf(busId, &handle) != 0 ||
        memoryOf(handle, &memory) != 0) {
        return -1;
    }
    return static_cast<std::int64_t>(memory.free);
}

GpuFigures figuresOf(void* driver, int index)
{
    const auto deviceGet = symbol<DriverResult(int*, int)>(driver, "cuDeviceGet");
    const auto nameOf = symbol<DriverResult(char*, int, int)>(driver, "cuDeviceGetName");
    const auto totalOf = symbol<DriverResult(std::size_t*, int)>(driver, "cuDeviceTotalMem_v2");
    const auto busIdOf = symbol<DriverResult(char*, int, int)>(driver, "cuDeviceGetPCIBusId");
    GpuFigures figures;
    int device = 0;
    if (deviceGet == nullptr || deviceGet(&device, index) != kDriverOk) {
        return figures;
    }
    std::array<char, 256> text{};
    if (nameOf != nullptr && nameOf(text.data(), static_cast<int>(text.size()), device) == kDriverOk) {
        figures.name = text.data();
    }
    std::size_t total = 0;
    if (totalOf != nullptr && totalOf(&total, device) == kDriverOk) {
        figures.totalBytes = static_cast<std::int64_t>(total);
    }
    std::int64_t free = -1;
    if (busIdOf != nullptr && busIdOf(text.data(), static_cast<int>(text.size()), device) == kDriverOk) {
        free = freeBytesByNvml(text.data());
    }
    figures.freeBytes = free >= 0 ? free : figures.totalBytes;
    return figures;
}

std::string driverProblem(void* driver, int& count)
{
    const auto init = symbol<DriverResult(unsigned)>(driver, "cuInit");
    const auto versionOf = symbol<DriverResult(int*)>(driver, "cuDriverGetVersion");
    const auto countOf = symbol<DriverResult(int*)>(driver, "cuDeviceGetCount");
    if (init == nullptr || versionOf == nullptr || countOf == nullptr) {
        return "libcuda.so.1 is not an NVIDIA driver";
    }
    const DriverResult started = init(0);
    if (started == kDriverMismatch) {
        return "the NVIDIA kernel module and libcuda.so.1 are of different versions: reboot after the driver's update";
    }
    if (started != kDriverOk && started != kDriverNoDevice) {
        return "the NVIDIA driver does not start (CUDA error " + std::to_string(started) + ")";
    }
    if (started == kDriverNoDevice || countOf(&count) != kDriverOk || count == 0) {
        return "the NVIDIA driver sees no GPU";
    }
    int version = 0;
    if (versionOf(&version) == kDriverOk && version < kNeededCuda) {
        return "the NVIDIA driver supports CUDA " + cudaVersionText(version) + ", needed is " +
               cudaVersionText(kNeededCuda) + ": update the driver";
    }
    return {};
}

/// Where the libtorch_cpu.so of this process lies.
std::filesystem::path torchDirectory()
{
    std::array<char, 4096> origin{};
    void* const loaded = dlopen("libtorch_cpu.so", RTLD_NOW | RTLD_NOLOAD);
    if (loaded == nullptr || dlinfo(loaded, RTLD_DI_ORIGIN, origin.data()) != 0) {
        return {};
    }
    return origin.data();
}

std::string registerBackend()
{
    const GpuDriver driver = queryGpuDriver();
    if (!driver.reason.empty()) {
        return driver.reason;
    }
    const std::filesystem::path library = torchDirectory() / "libtorch_cuda.so";
    std::error_code ignored;
    if (!std::filesystem::exists(library, ignored)) {
        return "libtorch_cuda.so is missing in " + library.parent_path().string() + ": run packaging/setup.sh --cuda";
    }
    if (dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
        const char* const why = dlerror();
        return std::string("libtorch_cuda.so does not load (") + (why != nullptr ? why : "no reason given") +
               "): run packaging/setup.sh --cuda";
    }
    try {
        at::globalContext().lazyInitDevice(at::kCUDA);
    } catch (const std::exception& failure) {
        return std::string("CUDA does not start: ") + failure.what();
    }
    return {};
}

} // namespace

GpuDriver queryGpuDriver()
{
    GpuDriver result;
    static void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (driver == nullptr) {
        result.reason = "no NVIDIA driver (libcuda.so.1 is not installed)";
        return result;
    }
    int count = 0;
    result.reason = driverProblem(driver, count);
    for (int index = 0; result.reason.empty() && index < count; ++index) {
        result.gpus.push_back(figuresOf(driver, index));
    }
    return result;
}

const std::string& loadCudaBackend()
{
    static const std::string problem = registerBackend();
    return problem;
}

} // namespace residua::engine
