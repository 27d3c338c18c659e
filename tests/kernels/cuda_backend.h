// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernels/cuda_kernels.h"
#include "tests/kernels/mix_harness.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace residua::tests {

inline void checkCuda(cudaError_t error)
{
    if (error != cudaSuccess)
        throw std::runtime_error(cudaGetErrorString(error));
}

class CudaBackend : public MixBackend {
public:
    /// Memory starts `misalignment` bytes past an aligned address.
    explicit CudaBackend(const kernels::CudaKernels& kernels, std::size_t misalignment = 0)
        : m_kernels(kernels), m_misalignment(misalignment)
    {
    }
    CudaBackend(const CudaBackend&) = delete;
    CudaBackend& operator=(const CudaBackend&) = delete;
    ~CudaBackend() override
    {
        for (void* memory : m_memory)
            cudaFree(memory);
    }

    void* upload(const void* from, std::size_t bytes) override
    {
        void* memory = nullptr;
        checkCuda(cudaMalloc(&memory, std::max<std::size_t>(bytes + m_misalignment, 1)));
        m_memory.push_back(memory);
        void* to = static_cast<char*>(memory) + m_misalignment;
        checkCuda(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
        return to;
    }
    void download(void* to, const void* from, std::size_t bytes) override
    {
        checkCuda(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
    }
    kernels::Status forward(const kernels::MixForward& mix) override
    {
        return checked(m_kernels.mixForward(mix, nullptr));
    }
    std::size_t workspace(const kernels::MixWeightGrad& mix) override { return m_kernels.mixWeightGradWorkspace(mix); }
    kernels::Status weightGrad(const kernels::MixWeightGrad& mix) override
    {
        return checked(m_kernels.mixWeightGrad(mix, nullptr));
    }
    kernels::Status gather(const kernels::MixGather& mix) override
    {
        return checked(m_kernels.mixGather(mix, nullptr));
    }

private:
    /// Throws CUDA's own text of a failed launch.
    kernels::Status checked(kernels::Status status) const
    {
        if (status == kernels::Status::deviceFailure)
            throw std::runtime_error(m_kernels.lastError());
        return status;
    }

    const kernels::CudaKernels& m_kernels;
    std::size_t m_misalignment;
    std::vector<void*> m_memory;
};

} // namespace residua::tests
