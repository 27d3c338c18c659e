// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/rank_place.h"
#include "engine/ranks/rank_group.h"
#include "projects/base/result.h"

#include <ATen/core/Tensor.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace residua::engine {

/// The word that rank 0 shares before each step. Any other word ends the run.
inline constexpr const char* kRankStep = "step";

/// How the ranks spent the time of some steps.
struct RankTimes {
    double seconds = 0;            ///< of the whole, as this rank measured it
    std::vector<double> computing; ///< seconds by rank, without waiting for others
    std::int64_t steps = 0;
};

/// The processes that train one run together, each on a part of every batch. Rank 0 records. Engine thread.
class Ranks {
public:
    ~Ranks();
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;

    /// Returns the ranks that this process belongs to, whose others it waits for at the first call; null if it trains
    /// alone (rankPlace). Errors: the library is missing, or the others are not reached.
    [[nodiscard]] static Result<Ranks*> ofProcess();

    [[nodiscard]] int rank() const { return m_place.rank; }
    [[nodiscard]] int count() const { return m_place.count; }

    /// Replaces the tensors' values by their means over the ranks. Tensors on a GPU go through the host. Throws
    /// std::runtime_error with the ranks that have ended.
    void average(const std::vector<at::Tensor>& tensors);
    /// Returns the times of the steps, which average() ends, since the last call.
    [[nodiscard]] RankTimes takeTimes() { return std::exchange(m_times, {}); }
    /// Returns the text of rank 0. Throws as average().
    [[nodiscard]] std::string share(const std::string& text);
    /// On rank 0: ends the run of the others. Does nothing if one of them has ended.
    void end();
    /// Returns "cuda:N" of this rank for a GPU, other devices as they are.
    [[nodiscard]] std::string deviceFor(const std::string& device) const;

private:
    class Store;
    class Pulse;

    explicit Ranks(const RankPlace& place);
    [[nodiscard]] std::string missing();
    void guarded(const auto& call);
    /// Ends a step: adds the time of each rank, summed over the ranks, to m_times.
    void addTimes(const at::Tensor& computing);

    RankPlace m_place;
    std::unique_ptr<Store> m_store;
    std::unique_ptr<RankGroup> m_group;
    std::unique_ptr<Pulse> m_pulse;
    bool m_isBroken = false; ///< true once a rank has ended
    RankTimes m_times;
    std::chrono::steady_clock::time_point m_stepBegan = std::chrono::steady_clock::now();
    double m_waited = 0; ///< seconds in exchanges since then
};

} // namespace residua::engine
