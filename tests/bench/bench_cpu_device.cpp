// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/bench_device.h"

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <thread>

namespace residua::tests {
namespace {

/// Threads that wait for work, as a training engine's do; starting threads inside a measurement would be measured too.
class Pool {
public:
    explicit Pool(int threads)
    {
        for (int i = 0; i < threads; ++i)
            m_threads.emplace_back([this, i] { work(i); });
    }

    ~Pool()
    {
        start(nullptr);
        for (std::thread& thread : m_threads)
            thread.join();
    }

    void run(const std::function<void(int)>& job)
    {
        start(&job);
        std::unique_lock lock(m_mutex);
        m_done.wait(lock, [this] { return m_running == 0; });
    }

    int size() const { return int(m_threads.size()); }

private:
    void start(const std::function<void(int)>* job)
    {
        const std::lock_guard lock(m_mutex);
        m_job = job;
        m_running = size();
        ++m_round;
        m_wake.notify_all();
    }

    void work(int index)
    {
        for (int round = 1;; ++round) {
            const std::function<void(int)>* job = nullptr;
            {
                std::unique_lock lock(m_mutex);
                m_wake.wait(lock, [&] { return m_round >= round; });
                job = m_job;
            }
            if (!job)
                return;
            (*job)(index);
            const std::lock_guard lock(m_mutex);
            if (--m_running == 0)
                m_done.notify_one();
        }
    }

    std::vector<std::thread> m_threads;
    std::mutex m_mutex;
    std::condition_variable m_wake;
    std::condition_variable m_done;
    const std::function<void(int)>* m_job = nullptr;
    int m_round = 0;
    int m_running = 0;
};

void runOnPool(void* context, std::int64_t count, std::int64_t, kernels::Parallel::Body body, void* state)
{
    Pool& pool = *static_cast<Pool*>(context);
    const std::int64_t parts = pool.size();
    pool.run([&](int i) {
        if (count * i / parts < count * (i + 1) / parts)
            body(state, count * i / parts, count * (i + 1) / parts);
    });
}

constexpr std::size_t kAlignment = 256;

struct Free {
    void operator()(void* memory) const { std::free(memory); }
};

class CpuDevice : public BenchDevice {
public:
    explicit CpuDevice(int threads) : m_pool(threads) {}

    std::string name() const override { return "CPU, " + std::to_string(m_pool.size()) + " threads"; }

    void* allocate(std::size_t bytes) override
    {
        m_memory.emplace_back(std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment));
        if (!m_memory.back()) {
            throw std::bad_alloc();
        }
        return m_memory.back().get();
    }

    void write(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }

    void copy(void* to, const void* from, std::size_t bytes) override
    {
        const std::size_t parts = std::size_t(m_pool.size());
        m_pool.run([&](int i) {
            const std::size_t begin = bytes * i / parts;
            std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin,
                        bytes * (i + 1) / parts - begin);
        });
    }

    bool copyByKernel(void*, const void*, std::size_t) override { return false; }

    kernels::Status run(const kernels::MixForward& mix) override { return kernels::mixForward(mix, parallel()); }
    kernels::Status run(const kernels::MixWeightGrad& mix) override { return kernels::mixWeightGrad(mix, parallel()); }
    kernels::Status run(const kernels::MixGather& mix) override { return kernels::mixGather(mix, parallel()); }
    std::size_t workspace(const kernels::MixWeightGrad& mix) override { return kernels::mixWeightGradWorkspace(mix); }
    std::string lastError() const override { return {}; }

    double seconds(const std::function<void()>& work) override
    {
        const auto start = std::chrono::steady_clock::now();
        work();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }

private:
    kernels::Parallel parallel() { return {runOnPool, &m_pool}; }

    Pool m_pool;
    std::vector<std::unique_ptr<void, Free>> m_memory;
};

} // namespace

std::unique_ptr<BenchDevice> cpuDevice(int threads)
{
    return std::make_unique<CpuDevice>(threads);
}

} // namespace residua::tests
