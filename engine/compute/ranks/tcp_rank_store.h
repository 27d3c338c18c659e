// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/rank_position.h"
#include "engine/base/machine/preparation.h"
#include "engine/compute/ranks/rank_group.h"

#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

namespace residua::engine {

// Keys of the store.
inline constexpr const char* kOverKey = "over"; ///< why a rank does not train; the others end
inline constexpr const char* kHereKey = "here"; ///< the number of ranks that have come
inline constexpr const char* kStopKey = "stop"; ///< why a rank wants the run to stop

/// The time between two looks at the store.
inline constexpr std::chrono::milliseconds kRankLook{100};

/// Thrown if another rank does not train, or this one was asked to stop.
struct RankRefused : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Returns the key under which a rank says that it is alive.
[[nodiscard]] std::string pulseKeyOf(int rank);
/// Returns what a rank says that was asked to stop.
[[nodiscard]] std::string stoppedText(int rank);

/// LibTorch's store, which rank 0 keeps, or torchrun in its own process. One thread at a time. Functions throw
/// c10::Error if it is not reached or has gone.
class TcpRankStore final : public RankStore {
public:
    /// Connects to the store, or creates it if this rank keeps it. Tries for a second.
    explicit TcpRankStore(const RankPosition& place);

    /// Connects to a store that may not exist yet. Calls `watch` meanwhile; throws RankRefused if it cancels.
    [[nodiscard]] static std::unique_ptr<TcpRankStore>
    reach(const RankPosition& place, std::chrono::milliseconds patience, const PreparationWatch& watch);

    void set(const std::string& key, const std::string& bytes) override;
    /// Waits until the key is set, and calls `onWait` meanwhile.
    [[nodiscard]] std::string get(const std::string& key) override;
    /// Returns nullopt if the key is not set.
    [[nodiscard]] std::optional<std::string> find(const std::string& key);
    /// Sets the key unless it is set. Returns its value.
    std::string claim(const std::string& key, const std::string& bytes);
    /// Adds to the number at a key. Returns the sum.
    std::int64_t add(const std::string& key, std::int64_t number);
    /// Notes that this rank knows that one does not train (kOverKey). If it keeps the store, waits a few seconds until
    /// so many ranks know it.
    void acknowledge(std::int64_t ranks);

    std::function<void()> onWait; ///< may throw

private:
    bool m_keeps;
    std::string m_prefix;
    c10::intrusive_ptr<c10d::TCPStore> m_store;
};

} // namespace residua::engine
