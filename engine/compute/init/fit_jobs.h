// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/machine/preparation.h"
#include "engine/compute/init/fit_cache.h"

#include <chrono>
#include <condition_variable>
#include <thread>

namespace residua::engine {

/// One of several fits that run in parallel.
struct NamedFit {
    std::string name;            ///< of the fitted parameter, the place of its errors
    double work = 0;             ///< relative to the others; the largest starts first
    std::function<FitJob()> job; ///< called on a fitting thread, because making the job copies and hashes its numbers
};

/// Fits on as many threads as LibTorch uses. The destructor stops them within one iteration.
class RunningFits {
public:
    /// `cache` must outlive this.
    RunningFits(std::vector<NamedFit> fits, CachedFits& cache);

    struct Ended {
        std::size_t index = 0; ///< in the constructor's list
        Result<Fitted> fit;
    };
    /// Returns the fits that have ended since the last call. If the list is empty, waits for one fit, at most for
    /// `wait`.
    [[nodiscard]] std::vector<Ended> take(std::chrono::milliseconds wait = {});
    /// Returns the fraction of the fits that is done, 0 to 1.
    [[nodiscard]] double share() const;

private:
    void run(std::size_t index, const std::stop_token& stop);

    std::vector<NamedFit> m_fits;
    CachedFits& m_cache;
    mutable std::mutex m_mutex; ///< protects the next three members
    std::condition_variable m_changed;
    std::vector<double> m_shares;
    std::vector<Ended> m_ended;
    std::jthread m_thread; ///< last, because it uses the other members
};

/// Runs all fits and returns their results in order; the bits are the same for any number of threads. Calls `watch`
/// regularly. Returns givenUp() if it cancels, or the error of the first fit that failed.
[[nodiscard]] Result<std::vector<Fitted>> runFits(std::vector<NamedFit> fits, CachedFits& cache,
                                                  const PreparationWatch& watch);

/// Returns the error "was given up" of the initialisation.
[[nodiscard]] Error givenUp();

} // namespace residua::engine
