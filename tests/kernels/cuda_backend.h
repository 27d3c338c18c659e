// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernels/cuda_kernels.h"
#include "tests/kernels/mix_harness.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <limits>
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
    /// Arrays of at most `largest` bytes start `misalignment` bytes past an aligned address.
    explicit CudaBackend(const kernels::CudaKernels& kernels, std::size_t misalignment = 0,
                         std::size_t largest = std::numeric_limits<std::size_t>::max())
        : m_kernels(kernels), m_misalignment(misalignment), m_largestMisaligned(largest)
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
        const std::size_t offset = bytes <= m_largestMisaligned ? m_misalignment : 0;
        void* memory = nullptr;
        checkCuda(cudaMalloc(&memory, std::max<std::size_t>(bytes + offset, 1)));
        m_memory.push_back(memory);
        void* to = static_cast<char*>(memory) + offset;
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
    std::size_t m_largestMisaligned;
    std::vector<void*> m_memory;
};

} // namespace residua::tests
