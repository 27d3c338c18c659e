// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/host/user_cache.h"
#include "engine/lowrank/attention_fit.h"
#include "engine/lowrank/low_rank_problem.h"
#include "projects/base/result.h"

#include <cstdint>
#include <filesystem>
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

/// The user's: residua/fits below XDG_CACHE_HOME, or below .cache in HOME; no folder where there is neither. It
/// may hold kFitCache.
[[nodiscard]] FitCache userFitCache();

/// The name of the file of a problem's fit: of a digest of all that the fit depends on, which is the weight, the rank,
/// what follows, the covariance, the seed, the course, the method and, where it starts from them, the draws; of
/// features the queries, the keys, the start and the course.
[[nodiscard]] std::string fitFileName(const LowRankProblem& problem, LowRankMethod method);
[[nodiscard]] std::string fitFileName(const AttentionProblem& problem);

/// The fit that the file holds; nullopt where there is none. Errors where it is damaged or holds another problem's.
[[nodiscard]] Result<std::optional<LowRankFit>> readFit(const std::filesystem::path& file,
                                                        const LowRankProblem& problem);
[[nodiscard]] Result<std::optional<AttentionFit>> readFit(const std::filesystem::path& file,
                                                          const AttentionProblem& problem);
/// Makes the folder where it is not there.
[[nodiscard]] Status writeFit(const std::filesystem::path& file, const LowRankProblem& problem, const LowRankFit& fit);
[[nodiscard]] Status writeFit(const std::filesystem::path& file, const AttentionProblem& problem,
                              const AttentionFit& fit);

/// Removes the files of fits that have not been used for longest until the rest has at most so many bytes. What cannot
/// be removed stays, and other files are left alone.
void trimFits(const std::filesystem::path& folder, std::uint64_t mostBytes);

/// A cache in use by fits that are made side by side: whatever is wrong with it, the fits are made. Trims it at its
/// end. Any thread.
class CachedFits {
public:
    explicit CachedFits(FitCache cache);
    ~CachedFits();
    CachedFits(const CachedFits&) = delete;
    CachedFits& operator=(const CachedFits&) = delete;

    /// The fit of that file, which counts as used now; nullopt where it is not there or not sound.
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
    /// A sentence for the user; empty where nothing was wrong.
    [[nodiscard]] std::string faults() const;

private:
    void use(const std::string& name) const;
    void fault(std::string text);

    FitCache m_cache;
    mutable std::mutex m_mutex; ///< of what follows
    std::vector<std::string> m_faults;
};

} // namespace residua::engine
