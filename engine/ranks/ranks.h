// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/rank_place.h"
#include "engine/ranks/rank_group.h"
#include "projects/base/result.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

namespace residua::engine {

/// The word that rank 0 shares before each step. Any other word ends the run.
inline constexpr const char* kRankStep = "step";

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

    RankPlace m_place;
    std::unique_ptr<Store> m_store;
    std::unique_ptr<RankGroup> m_group;
    std::unique_ptr<Pulse> m_pulse;
    bool m_isBroken = false; ///< true once a rank has ended
};

} // namespace residua::engine
