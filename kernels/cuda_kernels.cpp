// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda_kernels.h"

#include <dlfcn.h>

namespace residua::kernels {
namespace {

// The only symbol that the shared library exports.
constexpr const char* kTableSymbol = "residuaCudaKernels";
using TableFunction = const CudaKernels* (*)();

} // namespace

const CudaKernels* loadCudaKernels(const std::string& path, std::string& why)
{
    // Never closed, because streams could still have its kernels queued.
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        why = dlerror();
        return nullptr;
    }
    const auto table = reinterpret_cast<TableFunction>(dlsym(library, kTableSymbol));
    if (table == nullptr) {
        why = path + " holds no Residua kernels, since it has no symbol " + kTableSymbol +
              ": build it again, or unset RESIDUA_KERNELS";
        return nullptr;
    }
    const CudaKernels* kernels = table();
    if (kernels->version != kCudaKernelsVersion) {
        why = path + " has kernels of version " + std::to_string(kernels->version) + ", and this program expects " +
              std::to_string(kCudaKernelsVersion) + ": build both from the same sources";
        return nullptr;
    }
    return kernels;
}

} // namespace residua::kernels
