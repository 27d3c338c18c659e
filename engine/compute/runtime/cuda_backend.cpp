// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/runtime/cuda_backend.h"

#include <ATen/Context.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>

#include <dlfcn.h>

#include <array>
#include <exception>
#include <filesystem>
#include <mutex>
#include <string_view>

namespace residua::engine {
namespace {

// The parts of the driver's and NVML's stable C interfaces that are used, so that their headers are not needed.
using DriverResult = int;
constexpr DriverResult kDriverOk = 0;
constexpr DriverResult kDriverNoDevice = 100;
constexpr DriverResult kDriverMismatch = 803;
constexpr int kNeededCuda = 13000;
constexpr int kNeededCapability = 80;   ///< of a GPU: ten times the major number plus the minor one
constexpr int kEightBitCapability = 89; ///< of a GPU that multiplies in float8
constexpr int kCapabilityMajor = 75;    ///< CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
constexpr int kCapabilityMinor = 76;

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

std::string firstLine(std::string_view text)
{
    return std::string(text.substr(0, text.find('\n')));
}

std::string cudaVersionText(int version)
{
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// Returns the free memory from NVML, which needs no context on the device; -1 if it is unknown.
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

std::string capabilityText(int capability)
{
    return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

/// Returns the GPU's compute capability, or 0 if the driver does not say.
int capabilityOf(void* driver, int device)
{
    const auto attributeOf = symbol<DriverResult(int*, int, int)>(driver, "cuDeviceGetAttribute");
    int major = 0;
    int minor = 0;
    const bool isKnown = attributeOf != nullptr && attributeOf(&major, kCapabilityMajor, device) == kDriverOk &&
                         attributeOf(&minor, kCapabilityMinor, device) == kDriverOk;
    return isKnown ? 10 * major + minor : 0;
}

/// Returns why a GPU of this capability is too old, in one line; empty if it is not, or if the capability is unknown.
std::string capabilityProblem(int capability)
{
    return capability == 0 || capability >= kNeededCapability
               ? std::string()
               : "its compute capability is " + capabilityText(capability) + ", needed is " +
                     capabilityText(kNeededCapability) + " or higher: compute on another GPU or on the CPU";
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
    figures.capability = capabilityOf(driver, device);
    figures.reason = capabilityProblem(figures.capability);
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
        return "libcuda.so.1 is not an NVIDIA driver: install the driver again";
    }
    const DriverResult started = init(0);
    if (started == kDriverMismatch) {
        return "the NVIDIA kernel module and libcuda.so.1 are of different versions: reboot after the driver's update";
    }
    if (started != kDriverOk && started != kDriverNoDevice) {
        return "the NVIDIA driver does not start (CUDA error " + std::to_string(started) +
               "): see what nvidia-smi says, or reboot";
    }
    if (started == kDriverNoDevice || countOf(&count) != kDriverOk || count == 0) {
        return "the NVIDIA driver sees no GPU: see what nvidia-smi says, and the variable CUDA_VISIBLE_DEVICES";
    }
    int version = 0;
    if (versionOf(&version) == kDriverOk && version < kNeededCuda) {
        return "the NVIDIA driver supports CUDA " + cudaVersionText(version) + ", needed is " +
               cudaVersionText(kNeededCuda) + ": update the driver";
    }
    return {};
}

/// Returns the directory of this process's libtorch_cpu.so.
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
    if (!isThere(library)) {
        return "libtorch_cuda.so is missing in " + library.parent_path().string() + ": run packaging/setup.sh --cuda";
    }
    if (dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
        const char* const why = dlerror();
        return std::string("libtorch_cuda.so does not load (") + (why != nullptr ? why : "no reason given") +
               "): run packaging/setup.sh --cuda";
    }
    if (!at::detail::getCUDAHooks().hasCUDART()) {
        return "LibTorch has trained on the CPU before its CUDA part was loaded, and does not find it any more: start "
               "the program again";
    }
    try {
        at::globalContext().lazyInitDevice(at::kCUDA);
    } catch (const std::exception& error) {
        return "CUDA does not start (" + firstLine(error.what()) + "): see what nvidia-smi says";
    }
    return {};
}

struct Backend {
    std::mutex mutex; ///< guards the others
    bool loaded = false;
    std::string lost; ///< the result of checkGpus()
};

Backend& backend()
{
    static Backend made;
    return made;
}

/// Waits for the GPUs on which this process holds memory. Returns the exception's text in one line; empty if there was
/// none.
std::string errorOfGpus()
{
    const c10::impl::VirtualGuardImpl guard(c10::DeviceType::CUDA);
    c10::DeviceAllocator* const allocator = c10::getDeviceAllocator(c10::DeviceType::CUDA);
    const auto whole = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    try {
        for (c10::DeviceIndex i = 0; allocator->initialized() && i < guard.deviceCount(); ++i) {
            if (allocator->getDeviceStats(i).reserved_bytes[whole].current > 0) {
                guard.synchronizeDevice(i);
            }
        }
    } catch (const c10::Error& error) {
        return firstLine(error.what_without_backtrace());
    }
    return {};
}

} // namespace

GpuDriver queryGpuDriver()
{
    GpuDriver result;
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (driver == nullptr) {
        result.reason = "no NVIDIA driver (libcuda.so.1 is not installed): install one for CUDA " +
                        cudaVersionText(kNeededCuda) + " or newer, or compute on the CPU";
        return result;
    }
    int count = 0;
    result.reason = driverProblem(driver, count);
    for (int index = 0; result.reason.empty() && index < count; ++index) {
        result.gpus.push_back(figuresOf(driver, index));
    }
    return result;
}

std::string eightBitProblem(c10::Device device)
{
    const GpuDriver driver = device.is_cuda() ? queryGpuDriver() : GpuDriver();
    const auto index = static_cast<std::size_t>(device.index());
    const int capability = device.is_cuda() && index < driver.gpus.size() ? driver.gpus[index].capability : 0;
    return capability == 0 || capability >= kEightBitCapability
               ? std::string()
               : "fp8 needs a GPU of compute capability " + capabilityText(kEightBitCapability) + " or higher, " +
                     device.str() + " has " + capabilityText(capability) +
                     ": train in bf16, or on another GPU or the CPU, which computes the same more slowly";
}

std::string loadCudaBackend()
{
    const std::scoped_lock lock(backend().mutex);
    if (backend().loaded || !backend().lost.empty()) {
        return backend().lost;
    }
    std::string problem = registerBackend();
    backend().loaded = problem.empty();
    return problem;
}

std::string checkGpus()
{
    if (!c10::impl::hasDeviceGuardImpl(c10::DeviceType::CUDA)) {
        return {};
    }
    const std::string error = errorOfGpus();
    const std::scoped_lock lock(backend().mutex);
    if (!error.empty()) {
        backend().lost = "the GPU cannot be used any more (" + error + "): start the program again";
    }
    return backend().lost;
}

std::optional<Failure> attempt(const std::function<void()>& work)
{
    std::optional<Failure> ofTorch;
    std::optional<Failure> other = attemptStandard([&] {
        try {
            work();
        } catch (const c10::OutOfMemoryError& error) {
            ofTorch = noMemory(error.what_without_backtrace());
        } catch (const c10::Error& error) {
            ofTorch = failureOf(error.what_without_backtrace(), "LibTorch");
        }
    });
    if (ofTorch && ofTorch->kind == Failure::Kind::Other) {
        if (std::string lost = checkGpus(); !lost.empty()) {
            ofTorch->text = std::move(lost);
        }
    }
    return ofTorch ? ofTorch : other;
}

} // namespace residua::engine
