// SPDX-License-Identifier: GPL-3.0-or-later
// A stand-in for NVIDIA's driver (libcuda.so.1) and NVML (libnvidia-ml.so.1), as far as our code asks them. Environment
// variables say what it answers.
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace {

int number(const char* variable, int otherwise)
{
    const char* const text = std::getenv(variable);
    return text != nullptr ? std::atoi(text) : otherwise;
}

constexpr std::size_t kMebibyte = std::size_t{1} << 20;
constexpr int kMajorAttribute = 75;

struct NvmlMemory {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};

} // namespace

#define RESIDUA_FAKE extern "C" __attribute__((visibility("default"))) int

RESIDUA_FAKE cuInit(unsigned)
{
    return number("FAKE_INIT", 0);
}

RESIDUA_FAKE cuDriverGetVersion(int* version)
{
    *version = number("FAKE_VERSION", 13000);
    return 0;
}

RESIDUA_FAKE cuDeviceGetCount(int* count)
{
    *count = number("FAKE_COUNT", 1);
    return 0;
}

RESIDUA_FAKE cuDeviceGet(int* device, int index)
{
    *device = index;
    return 0;
}

RESIDUA_FAKE cuDeviceGetName(char* text, int size, int device)
{
    std::snprintf(text, static_cast<std::size_t>(size), "Fake GPU %d", device);
    return 0;
}

RESIDUA_FAKE cuDeviceTotalMem_v2(std::size_t* bytes, int)
{
    *bytes = static_cast<std::size_t>(number("FAKE_TOTAL_MIB", 8192)) * kMebibyte;
    return 0;
}

RESIDUA_FAKE cuDeviceGetPCIBusId(char* text, int size, int device)
{
    std::snprintf(text, static_cast<std::size_t>(size), "0000:%02x:00.0", device);
    return 0;
}

RESIDUA_FAKE cuDeviceGetAttribute(int* value, int attribute, int)
{
    const int capability = number("FAKE_CAPABILITY", 90);
    *value = attribute == kMajorAttribute ? capability / 10 : capability % 10;
    return 0;
}

RESIDUA_FAKE nvmlInit_v2()
{
    return 0;
}

RESIDUA_FAKE nvmlDeviceGetHandleByPciBusId_v2(const char*, void** handle)
{
    *handle = nullptr;
    return 0;
}

RESIDUA_FAKE nvmlDeviceGetMemoryInfo(void*, NvmlMemory* memory)
{
    memory->total = static_cast<std::size_t>(number("FAKE_TOTAL_MIB", 8192)) * kMebibyte;
    memory->free = static_cast<std::size_t>(number("FAKE_FREE_MIB", 8000)) * kMebibyte;
    memory->used = memory->total - memory->free;
    return 0;
}
