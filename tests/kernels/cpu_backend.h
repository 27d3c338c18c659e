// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/kernels/mix_harness.h"

#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace residua::tests {

/// A parallel-for with a thread for each of `*context` (an int) nearly equal ranges.
inline void runThreads(void* context, std::int64_t count, std::int64_t grain, kernels::Parallel::Body body, void* state)
{
    const std::int64_t parts = std::min<std::int64_t>(*static_cast<int*>(context), (count + grain - 1) / grain);
    std::vector<std::thread> threads;
    for (std::int64_t part = 0; part < parts; ++part)
        threads.emplace_back(body, state, count * part / parts, count * (part + 1) / parts);
    for (std::thread& thread : threads)
        thread.join();
}

class CpuBackend : public MixBackend {
public:
    explicit CpuBackend(int threads = 1) : m_threads(threads) {}

    void* upload(const void* from, std::size_t bytes) override
    {
        // Allocated to the byte, so that a sanitizer sees a read past the end.
        m_memory.push_back(std::make_unique<std::vector<char>>(static_cast<const char*>(from),
                                                               static_cast<const char*>(from) + bytes));
        return m_memory.back()->data();
    }
    void download(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
    kernels::Status forward(const kernels::MixForward& mix) override { return kernels::mixForward(mix, parallel()); }
    std::size_t workspace(const kernels::MixWeightGrad& mix) override { return kernels::mixWeightGradWorkspace(mix); }
    kernels::Status weightGrad(const kernels::MixWeightGrad& mix) override
    {
        return kernels::mixWeightGrad(mix, parallel());
    }
    kernels::Status gather(const kernels::MixGather& mix) override { return kernels::mixGather(mix, parallel()); }

private:
    kernels::Parallel parallel()
    {
        return m_threads > 1 ? kernels::Parallel{runThreads, &m_threads} : kernels::Parallel{};
    }

    int m_threads;
    std::vector<std::unique_ptr<std::vector<char>>> m_memory;
};

} // namespace residua::tests
