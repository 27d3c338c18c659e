// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace residua::engine {

/// Work on a GPU that is recorded once as a CUDA graph and then launched as a whole, which costs the host as much as
/// a few kernels. The graph keeps every address and every number that the host passed, so its inputs must be tensors
/// that stay where they are. Engine thread.
class DeviceGraph {
public:
    using Work = std::function<std::vector<at::Tensor>()>;

    DeviceGraph() = default;
    virtual ~DeviceGraph() = default;
    DeviceGraph(const DeviceGraph&) = delete;
    DeviceGraph& operator=(const DeviceGraph&) = delete;

    /// Calls `work` and records what it enqueues on the current device, without running it. Work that waits for the
    /// device or copies between host and device throws c10::Error. The memory of the work stays reserved for the
    /// graph; all graphs share it, that of the results included. The first graph waits for the device, and frees the
    /// allocator's unused memory. Returns the results of `work`, which receive their values in each launch, and lose
    /// them in the launch of another graph. They must not be used after the graph's end.
    [[nodiscard]] virtual std::vector<at::Tensor> record(const Work& work) = 0;
    /// Enqueues the recorded work on the current stream. Random numbers continue from the default generator.
    virtual void launch() = 0;
};

/// The functions of libresidua_cuda_graph.so, which is linked with LibTorch's CUDA part and opened at run time.
struct DeviceGraphs {
    std::int32_t version; ///< kDeviceGraphsVersion of the library
    std::unique_ptr<DeviceGraph> (*create)();
};
inline constexpr std::int32_t kDeviceGraphsVersion = 1;

/// Returns the library of graphs for a device, loaded once from RESIDUA_CUDA_GRAPH, beside the program, ../lib/residua
/// or the build tree. Null on the CPU (except under GpuPathsOnHost), if RESIDUA_CUDA_GRAPH is 0, or if it is missing or
/// does not fit; `why` then says which, in one line. Any thread.
[[nodiscard]] const DeviceGraphs* deviceGraphs(c10::Device device, std::string& why);

} // namespace residua::engine
