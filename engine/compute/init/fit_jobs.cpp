// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/init/fit_cache.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>

namespace residua::engine {
namespace {

constexpr std::chrono::milliseconds kAsk{50}; ///< the interval between calls of the watch

/// The jobs in progress, shared by their threads.
class Work {
public:
    explicit Work(const std::vector<FitJob>& jobs) : m_jobs(jobs), m_shares(jobs.size(), 0.0) {}

    /// Runs one job after another until all are started, one fails, or they are cancelled.
    void run()
    {
        for (std::size_t i = m_next++; i < m_jobs.size() && !m_stop.stop_requested(); i = m_next++) {
            Status done = Done{};
            try {
                done = m_jobs[i].run(watchOf(i));
            } catch (const std::exception& failure) {
                done = Error{"", failure.what()};
            }
            const std::scoped_lock lock(m_mutex);
            if (done) {
                m_shares[i] = 1;
            } else if (!m_error) {
                m_error = Error{m_jobs[i].name, done.error().message};
                m_stop.request_stop();
            }
        }
        const std::scoped_lock lock(m_mutex);
        ++m_finished;
        m_changed.notify_all();
    }

    /// Waits until `threads` threads have ended; calls the watch meanwhile and at the end. Returns false if it
    /// cancelled.
    bool wait(std::size_t threads, const PreparationWatch& watch)
    {
        bool isWanted = true;
        bool isOver = false;
        std::unique_lock lock(m_mutex);
        while (!isOver) {
            m_changed.wait_for(lock, kAsk, [&] { return m_finished == threads; });
            isOver = m_finished == threads;
            const double share =
                std::accumulate(m_shares.begin(), m_shares.end(), 0.0) / static_cast<double>(m_shares.size());
            lock.unlock();
            if (isWanted && watch && !watch(share)) {
                isWanted = false;
                m_stop.request_stop();
            }
            lock.lock();
        }
        return isWanted;
    }

    [[nodiscard]] const std::optional<Error>& error() const { return m_error; }

private:
    [[nodiscard]] LowRankWatch watchOf(std::size_t index)
    {
        LowRankWatch watch;
        watch.stop = m_stop.get_token();
        watch.progress = [this, index](const LowRankProgress& progress) {
            const std::scoped_lock lock(m_mutex);
            m_shares[index] = progress.fraction;
        };
        return watch;
    }

    const std::vector<FitJob>& m_jobs;
    std::atomic<std::size_t> m_next = 0;
    std::stop_source m_stop;
    std::mutex m_mutex; ///< protects the members below
    std::condition_variable m_changed;
    std::vector<double> m_shares;
    std::optional<Error> m_error;
    std::size_t m_finished = 0;
};

} // namespace

Error givenUp()
{
    return {"initialisation", "was given up"};
}

Status runFits(const std::vector<FitJob>& jobs, const PreparationWatch& watch)
{
    if (jobs.empty()) {
        return Done{};
    }
    Work work(jobs);
    const std::size_t count = std::min(jobs.size(), static_cast<std::size_t>(std::max(at::get_num_threads(), 1)));
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < count; ++i) {
        threads.emplace_back([&work] { work.run(); });
    }
    const bool isWanted = work.wait(count, watch);
    threads.clear();
    if (!isWanted) {
        return givenUp();
    }
    return work.error() ? Status(*work.error()) : Status(Done{});
}

} // namespace residua::engine
