// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/gap.h"
#include "engine/base/machine/machine.h"
#include "engine/maths/lowrank/attention_fit.h"
#include "engine/maths/lowrank/low_rank_problem.h"
#include "projects/base/result.h"

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// The result of a fit.
struct Fitted {
    std::vector<std::vector<double>> matrices; ///< those of the job, row-major
    GapFit gap;
};

/// A fit of a factored weight, or of the features of one key-value head of an attention.
struct FitJob {
    struct Matrix {
        const char* name;
        std::int64_t rows;
        std::int64_t columns;
    };
    /// The name of the fit's file: a digest of everything that the fit depends on. Empty: the result is not cached.
    std::string key;
    std::vector<Matrix> matrices; ///< of the result
    std::function<Result<Fitted>(const LowRankWatch& watch)> compute;
};

/// Returns the fit of the factors "left" and "right". Its file depends on the weight, the rank, the activation, the
/// covariance, the seed, the schedule, the method and, if the method starts from it, the draw. Baseline is not cached.
[[nodiscard]] FitJob fitJob(LowRankProblem problem, LowRankMethod method);
/// Returns the fit of "features". Its file depends on the queries, the keys, the start and the schedule.
[[nodiscard]] FitJob fitJob(AttentionProblem problem);
/// Returns the job that measures the start of the features, without a fit or a file.
[[nodiscard]] FitJob measureJob(AttentionProblem problem);

/// Earlier fits in a folder, one file for each, so that the same one is not computed twice. Any number of processes: a
/// file is complete or absent.
using FitCache = UserCache;

/// Returns the user's cache: residua/fits below XDG_CACHE_HOME, or below .cache in HOME, with the limit kFitCache. Its
/// folder is empty if neither is set.
[[nodiscard]] FitCache userFitCache();

/// A cache used by parallel fits. Its errors do not stop the fits. The destructor removes the least recently used files
/// above the limit. Any thread.
class CachedFits {
public:
    explicit CachedFits(FitCache cache);
    ~CachedFits();
    CachedFits(const CachedFits&) = delete;
    CachedFits& operator=(const CachedFits&) = delete;

    /// Returns the result in the job's file, or computes it and writes the file.
    [[nodiscard]] Result<Fitted> fit(const FitJob& job, const LowRankWatch& watch);
    /// Returns the result in the job's file and marks it as used now; nullopt if it does not exist or is invalid.
    [[nodiscard]] std::optional<Fitted> kept(const FitJob& job);
    /// Writes the job's file. Creates the folder if needed.
    void keep(const FitJob& job, const Fitted& fit);
    /// Returns the errors as a sentence for the user; empty if there were none.
    [[nodiscard]] std::string faults() const;

private:
    [[nodiscard]] bool keeps(const FitJob& job) const { return !m_cache.folder.empty() && !job.key.empty(); }
    void fault(std::string text);

    FitCache m_cache;
    mutable std::mutex m_mutex; ///< protects m_faults
    std::vector<std::string> m_faults;
};

} // namespace residua::engine
