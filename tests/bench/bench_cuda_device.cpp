// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda_kernels.h"
#include "tests/bench/bench_device.h"

#include <cuda_runtime_api.h>

#include <new>

namespace residua::tests {
namespace {

class CudaDevice : public BenchDevice {
public:
    explicit CudaDevice(const kernels::CudaKernels& kernels) : m_kernels(kernels)
    {
        cudaEventCreate(&m_start);
        cudaEventCreate(&m_stop);
    }
    CudaDevice(const CudaDevice&) = delete;
    CudaDevice& operator=(const CudaDevice&) = delete;
    ~CudaDevice() override
    {
        release();
        cudaEventDestroy(m_start);
        cudaEventDestroy(m_stop);
    }

    std::string name() const override
    {
        cudaDeviceProp properties{};
        cudaGetDeviceProperties(&properties, 0);
        return properties.name;
    }

    void* allocate(std::size_t bytes) override
    {
        void* memory = nullptr;
        if (cudaMalloc(&memory, bytes + 1) != cudaSuccess)
            throw std::bad_alloc();
        cudaMemset(memory, 0x3c, bytes);
        m_memory.push_back(memory);
        return memory;
    }

    void release() override
    {
        for (void* memory : m_memory)
            cudaFree(memory);
        m_memory.clear();
    }

    void copy(void* to, const void* from, std::size_t bytes) override
    {
        cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, nullptr);
    }

    kernels::Status run(const kernels::MixForward& mix) override { return m_kernels.mixForward(mix, nullptr); }
    kernels::Status run(const kernels::MixWeightGrad& mix) override { return m_kernels.mixWeightGrad(mix, nullptr); }
    kernels::Status run(const kernels::MixGather& mix) override { return m_kernels.mixGather(mix, nullptr); }
    std::size_t workspace(const kernels::MixWeightGrad& mix) override { return m_kernels.mixWeightGradWorkspace(mix); }

    double seconds(const std::function<void()>& work) override
    {
        float milliseconds = 0;
        cudaEventRecord(m_start, nullptr);
        work();
        cudaEventRecord(m_stop, nullptr);
        cudaEventSynchronize(m_stop);
        cudaEventElapsedTime(&milliseconds, m_start, m_stop);
        return double(milliseconds) * 1e-3;
    }

private:
    const kernels::CudaKernels& m_kernels;
    cudaEvent_t m_start = nullptr;
    cudaEvent_t m_stop = nullptr;
    std::vector<void*> m_memory;
};

} // namespace

std::unique_ptr<BenchDevice> cudaDevice(std::string& why)
{
    const kernels::CudaKernels* kernels = kernels::loadCudaKernels(RESIDUA_CUDA_KERNELS, why);
    if (!kernels)
        return nullptr;
    if (kernels->deviceCount() == 0) {
        why = "no device";
        return nullptr;
    }
    return std::make_unique<CudaDevice>(*kernels);
}

} // namespace residua::tests
