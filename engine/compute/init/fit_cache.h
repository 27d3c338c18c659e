// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/machine/machine.h"
#include "engine/base/machine/preparation.h"
#include "engine/maths/lowrank/attention_fit.h"
#include "engine/maths/lowrank/low_rank_problem.h"
#include "projects/base/result.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace residua::engine {

/// Earlier fits in a folder, one file for each problem, so that the same one is not solved twice. Any thread and any
/// number of processes: a file is complete or absent.

using FitCache = UserCache;

/// Returns the user's cache: residua/fits below XDG_CACHE_HOME, or below .cache in HOME, with the limit kFitCache. Its
/// folder is empty if neither is set.
[[nodiscard]] FitCache userFitCache();

/// Returns the file name of a problem's fit: a digest of everything that the fit depends on. These are the weight, the
/// rank, the activation, the covariance, the seed, the schedule, the method and, if the method starts from it, the
/// draw; for features, the queries, the keys, the start and the schedule.
[[nodiscard]] std::string fitFileName(const LowRankProblem& problem, LowRankMethod method);
[[nodiscard]] std::string fitFileName(const AttentionProblem& problem);

/// Reads a fit; nullopt if the file does not exist. Returns an error if it is damaged or belongs to another problem.
[[nodiscard]] Result<std::optional<LowRankFit>> readFit(const std::filesystem::path& file,
                                                        const LowRankProblem& problem);
[[nodiscard]] Result<std::optional<AttentionFit>> readFit(const std::filesystem::path& file,
                                                          const AttentionProblem& problem);
/// Writes a fit. Creates the folder if needed.
[[nodiscard]] Status writeFit(const std::filesystem::path& file, const LowRankProblem& problem, const LowRankFit& fit);
[[nodiscard]] Status writeFit(const std::filesystem::path& file, const AttentionProblem& problem,
                              const AttentionFit& fit);

/// Removes the least recently used fits until the rest has at most `mostBytes`. Ignores files that cannot be removed,
/// and all other files.
void trimFits(const std::filesystem::path& folder, std::uint64_t mostBytes);

/// A cache used by parallel fits. Its errors do not stop the fits. The destructor trims it. Any thread.
class CachedFits {
public:
    explicit CachedFits(FitCache cache);
    ~CachedFits();
    CachedFits(const CachedFits&) = delete;
    CachedFits& operator=(const CachedFits&) = delete;

    /// Returns the fit in the file and marks it as used now; nullopt if it does not exist or is invalid.
    template <class Problem>
    [[nodiscard]] auto kept(const std::string& name, const Problem& problem)
    {
        auto found = readFit(m_cache.folder.empty() ? m_cache.folder : m_cache.folder / name, problem);
        using Fit = std::decay_t<decltype(*found)>;
        if (!found) {
            fault(found.error().text() + ": fitted again");
            return Fit();
        }
        if (*found) {
            use(name);
        }
        return Fit(*std::move(found));
    }
    template <class Problem, class Fit>
    void keep(const std::string& name, const Problem& problem, const Fit& fit)
    {
        if (m_cache.folder.empty()) {
            return;
        }
        if (const Status written = writeFit(m_cache.folder / name, problem, fit); !written) {
            fault(written.error().text() + ": the fit is not kept for another time");
        }
    }
    /// Returns the errors as a sentence for the user; empty if there were none.
    [[nodiscard]] std::string faults() const;

private:
    void use(const std::string& name) const;
    void fault(std::string text);

    FitCache m_cache;
    mutable std::mutex m_mutex; ///< protects m_faults
    std::vector<std::string> m_faults;
};

/// Fits as fitLowRank and fitAttention, but reads the fit of an equal problem from `cache` if it exists and adds new
/// fits to it. Any thread.
[[nodiscard]] Result<LowRankFit> fitKept(const LowRankProblem& problem, LowRankMethod method, CachedFits& cache,
                                         const LowRankWatch& watch);
[[nodiscard]] Result<AttentionFit> fitKept(const AttentionProblem& problem, CachedFits& cache,
                                           const LowRankWatch& watch);

/// One of several fits that run in parallel.
struct FitJob {
    std::string name; ///< the name of the fitted parameter, the place of its errors
    /// Called on one of the threads; must store its result where no other job accesses it.
    std::function<Status(const LowRankWatch& watch)> run;
};

/// Runs all jobs on as many threads as LibTorch uses. Calls `watch` regularly on the calling thread; if it cancels,
/// stops the jobs. Returns givenUp(), or the error of the first job that failed.
[[nodiscard]] Status runFits(const std::vector<FitJob>& jobs, const PreparationWatch& watch);

/// Returns the error "was given up" of the initialisation.
[[nodiscard]] Error givenUp();

} // namespace residua::engine
