// SPDX-License-Identifier: GPL-3.0-or-later
// Graphs of work on an NVIDIA GPU: a separate library, opened at run time, because it is linked with LibTorch's CUDA
// part, which a program without a GPU must not need.
#include "engine/compute/runtime/device_graph.h"

#include <ATen/Context.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/cuda/CUDAGraph.h>
#include <ATen/ops/from_blob.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>

#include <algorithm>
#include <map>
#include <memory>

namespace residua::engine {
namespace {

/// Returns the memory pool of all graphs that exist. LibTorch ends a pool with its last graph.
std::shared_ptr<at::MempoolId_t> sharedPool()
{
    static std::weak_ptr<at::MempoolId_t> current;
    std::shared_ptr<at::MempoolId_t> pool = current.lock();
    if (pool == nullptr) {
        pool = std::make_shared<at::MempoolId_t>(at::cuda::graph_pool_handle());
        current = pool;
    }
    return pool;
}

/// Returns the stream that all graphs are recorded on. Memory of a pool is reused on the stream that it was allocated
/// on and on no other.
c10::cuda::CUDAStream recordingStream(c10::DeviceIndex device)
{
    static std::map<c10::DeviceIndex, c10::cuda::CUDAStream> streams;
    return streams.try_emplace(device, c10::cuda::getStreamFromPool(false, device)).first->second;
}

/// Returns a view of a result that does not own its memory, which the pool keeps reserved and the next recording uses.
at::Tensor withoutOwner(const at::Tensor& result)
{
    return result.defined() ? at::for_blob(result.data_ptr(), result.sizes())
                                  .strides(result.strides())
                                  .options(result.options())
                                  .target_device(result.device())
                                  .make_tensor()
                            : result;
}

class CudaGraph final : public DeviceGraph {
public:
    std::vector<at::Tensor> record(const Work& work) override
    {
        const c10::cuda::CUDAStream outside = c10::cuda::getCurrentCUDAStream();
        if (m_pool.use_count() == 1) {
            // The recorded work has memory of its own, so that what earlier steps have left is not needed any more.
            outside.synchronize();
            c10::cuda::CUDACachingAllocator::emptyCache();
        }
        // The default stream cannot be recorded.
        const c10::cuda::CUDAStreamGuard inside(recordingStream(outside.device_index()));
        at::Generator generator = at::globalContext().defaultGenerator(outside.device());
        const at::Generator before = generator.clone();
        // The process's other threads may go on using the GPU.
        m_graph.capture_begin(*m_pool, cudaStreamCaptureModeThreadLocal);
        try {
            std::vector<at::Tensor> results = work();
            m_graph.capture_end();
            std::ranges::transform(results, results.begin(), withoutOwner);
            return results;
        } catch (...) {
            abandon(outside.device_index());
            // The generator still counts the numbers of the recording, and would refuse to draw others.
            generator.graphsafe_set_state(before.graphsafe_get_state());
            throw;
        }
    }

    void launch() override { m_graph.replay(); }

private:
    /// Ends a recording that failed. Each call may say once more that it did.
    void abandon(c10::DeviceIndex device) noexcept
    {
        const auto attempt = [](auto end) {
            try {
                end();
            } catch (...) {
            }
        };
        attempt([&] { m_graph.capture_end(); });
        attempt([&] { c10::cuda::CUDACachingAllocator::endAllocateToPool(device, *m_pool); });
        static_cast<void>(cudaGetLastError());
    }

    std::shared_ptr<at::MempoolId_t> m_pool = sharedPool();
    at::cuda::CUDAGraph m_graph;
};

std::unique_ptr<DeviceGraph> create()
{
    return std::make_unique<CudaGraph>();
}

} // namespace
} // namespace residua::engine

extern "C" __attribute__((visibility("default"))) const residua::engine::DeviceGraphs* residuaDeviceGraphs()
{
    static constexpr residua::engine::DeviceGraphs kTable = {residua::engine::kDeviceGraphsVersion,
                                                             residua::engine::create};
    return &kTable;
}
