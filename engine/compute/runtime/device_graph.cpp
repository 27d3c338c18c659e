// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/runtime/device_graph.h"

#include "engine/base/machine/machine.h"
#include "engine/compute/runtime/host_path.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

namespace residua::engine {
namespace {

constexpr const char* kFile = "libresidua_cuda_graph.so";
constexpr const char* kVariable = "RESIDUA_CUDA_GRAPH";
constexpr const char* kTableSymbol = "residuaDeviceGraphs"; ///< the only symbol that the library exports
using TableFunction = const DeviceGraphs* (*)();

struct GraphLibrary {
    const DeviceGraphs* table = nullptr;
    std::string why;
};

GraphLibrary without(const std::string& why)
{
    return {nullptr,
            "steps are not recorded as CUDA graphs, so that small networks take several times as long: " + why};
}

GraphLibrary findGraphLibrary()
{
    const char* const named = std::getenv(kVariable);
    if (named != nullptr && named == std::string_view("0")) {
        return {};
    }
    const std::filesystem::path path = findOwnLibrary(kFile, kVariable, "kernels");
    if (path.empty()) {
        return without(named != nullptr
                           ? std::string(kVariable) + " names no file: " + named
                           : std::string(kFile) + " is not beside the program: build it, or install it again");
    }
    const Result<void*> library = openLibrary(path, SymbolScope::Program);
    if (!library) {
        return without(library.error().message);
    }
    const auto table = reinterpret_cast<TableFunction>(dlsym(*library, kTableSymbol));
    if (table == nullptr || table()->version != kDeviceGraphsVersion) {
        return without(path.string() + " is not of this version of the program: install both again");
    }
    return {table(), {}};
}

} // namespace

const DeviceGraphs* deviceGraphs(c10::Device device, std::string& why)
{
    why.clear();
    if (takesHostPath(device)) {
        return nullptr;
    }
    static const GraphLibrary library = findGraphLibrary();
    why = library.why;
    return library.table;
}

} // namespace residua::engine
