// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/maths/lowrank/low_rank_fit.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>

namespace residua::engine {
namespace {

/// The state that the threads share.
class LayerFits {
public:
    LayerFits(std::span<const LowRankProblem> problems, std::span<const LowRankMethod> methods,
              const LayerFitsWatch& watch)
        : m_problems(problems),
          m_methods(methods),
          m_watch(watch),
          m_order(problems.size() * methods.size()),
          m_results(m_order.size(), Result<LowRankFit>(stoppedFit()))
    {
        std::iota(m_order.begin(), m_order.end(), std::size_t{0});
        const auto work = [&](std::size_t index) {
            const LowRankProblem& problem = m_problems[index / m_methods.size()];
            return double(problem.out) * double(problem.in) * double(problem.rank);
        };
        // A large fit started last would keep the other threads waiting.
        std::ranges::stable_sort(m_order, [&](std::size_t a, std::size_t b) { return work(a) > work(b); });
    }

    /// Runs on each thread: takes the next fit that no thread has taken, until all are taken.
    void take()
    {
        for (std::size_t next = m_next++; next < m_order.size(); next = m_next++) {
            const std::size_t index = m_order[next];
            const std::size_t problem = index / m_methods.size();
            const std::size_t method = index % m_methods.size();
            m_results[index] = fit(problem, method);
            if (m_watch.finished) {
                const std::scoped_lock lock(m_told);
                m_watch.finished(problem, method, m_results[index]);
            }
        }
    }

    [[nodiscard]] std::vector<Result<LowRankFit>> results() && { return std::move(m_results); }

private:
    [[nodiscard]] Result<LowRankFit> fit(std::size_t problem, std::size_t method)
    {
        LowRankWatch watch;
        watch.stop = m_watch.stop;
        if (m_watch.progress) {
            watch.progress = [this, problem, method](const LowRankProgress& progress) {
                const std::scoped_lock lock(m_told);
                m_watch.progress(problem, method, progress);
            };
        }
        try {
            return m_watch.fit ? m_watch.fit(m_problems[problem], m_methods[method], watch)
                               : fitLowRank(m_problems[problem], m_methods[method], watch);
        } catch (const std::exception& failure) {
            // Too little memory, for example, must not terminate the program from a thread.
            return Error{"", std::string("the fit failed: ") + failure.what()};
        }
    }

    std::span<const LowRankProblem> m_problems;
    std::span<const LowRankMethod> m_methods;
    const LayerFitsWatch& m_watch;
    std::vector<std::size_t> m_order;
    std::vector<Result<LowRankFit>> m_results;
    std::atomic<std::size_t> m_next = 0;
    std::mutex m_told;
};

} // namespace

std::vector<Result<LowRankFit>> fitLayers(std::span<const LowRankProblem> problems,
                                          std::span<const LowRankMethod> methods, int threads,
                                          const LayerFitsWatch& watch)
{
    LayerFits fits(problems, methods, watch);
    {
        const auto most = std::max<std::size_t>(1, problems.size() * methods.size());
        std::vector<std::jthread> helpers(std::min(most, std::size_t(std::max(1, threads))) - 1);
        for (std::jthread& helper : helpers) {
            helper = std::jthread([&fits] { fits.take(); });
        }
        fits.take();
    }
    return std::move(fits).results();
}

} // namespace residua::engine
