// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda_kernels.h"
#include "tests/bench/bench_copy.h"
#include "tests/bench/bench_device.h"

#include <cuda_runtime_api.h>

#include <cstdlib>
#include <stdexcept>

namespace residua::tests {
namespace {

void check(cudaError_t error, const char* call)
{
    if (error != cudaSuccess)
        throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(error));
}

class CudaDevice : public BenchDevice {
public:
    explicit CudaDevice(const kernels::CudaKernels& kernels) : m_kernels(kernels)
    {
        check(cudaEventCreate(&m_start), "cudaEventCreate");
        check(cudaEventCreate(&m_stop), "cudaEventCreate");
    }
    CudaDevice(const CudaDevice&) = delete;
    CudaDevice& operator=(const CudaDevice&) = delete;
    ~CudaDevice() override
    {
        for (void* memory : m_memory)
            cudaFree(memory);
        cudaEventDestroy(m_start);
        cudaEventDestroy(m_stop);
    }

    std::string name() const override
    {
        cudaDeviceProp properties{};
        check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
        return std::string(properties.name) + ", L2 " + std::to_string(properties.l2CacheSize >> 20) + " MiB";
    }

    void* allocate(std::size_t bytes) override
    {
        void* memory = nullptr;
        check(cudaMalloc(&memory, bytes), "cudaMalloc");
        m_memory.push_back(memory);
        return memory;
    }

    void write(void* to, const void* from, std::size_t bytes) override
    {
        check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    }

    void copy(void* to, const void* from, std::size_t bytes) override
    {
        check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, nullptr), "cudaMemcpyAsync");
    }

    bool copyByKernel(void* to, const void* from, std::size_t bytes) override
    {
        tests::copyByKernel(to, from, bytes);
        check(cudaGetLastError(), "copyByKernel");
        return true;
    }

    kernels::Status run(const kernels::MixForward& mix) override { return m_kernels.mixForward(mix, nullptr); }
    kernels::Status run(const kernels::MixWeightGrad& mix) override { return m_kernels.mixWeightGrad(mix, nullptr); }
    kernels::Status run(const kernels::MixGather& mix) override { return m_kernels.mixGather(mix, nullptr); }
    std::size_t workspace(const kernels::MixWeightGrad& mix) override { return m_kernels.mixWeightGradWorkspace(mix); }
    std::string lastError() const override { return m_kernels.lastError(); }

    double seconds(const std::function<void()>& work) override
    {
        float milliseconds = 0;
        check(cudaEventRecord(m_start, nullptr), "cudaEventRecord");
        work();
        check(cudaEventRecord(m_stop, nullptr), "cudaEventRecord");
        check(cudaEventSynchronize(m_stop), "cudaEventSynchronize");
        check(cudaEventElapsedTime(&milliseconds, m_start, m_stop), "cudaEventElapsedTime");
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
    const char* const named = std::getenv("RESIDUA_KERNELS");
    const kernels::CudaKernels* kernels = kernels::loadCudaKernels(named ? named : RESIDUA_CUDA_KERNELS, why);
    if (!kernels)
        return nullptr;
    if (kernels->deviceCount() == 0) {
        why = std::string("no usable GPU: ") + kernels->lastError();
        return nullptr;
    }
    return std::make_unique<CudaDevice>(*kernels);
}

} // namespace residua::tests
