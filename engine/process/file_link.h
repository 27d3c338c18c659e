// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/session.h"
#include "engine/place/place_files.h"
#include "projects/base/result.h"

#include <atomic>
#include <thread>

namespace residua::engine {

/// Starts an engine at `place` that serves its files. The connection ends with the last copy of the returned value.
[[nodiscard]] Result<FileConnection> connectForFiles(const EnginePlace& place);

/// Fetches checkpoints on a thread of its own, one at a time. A newer request cancels an older one.
class CheckpointFetcher {
public:
    explicit CheckpointFetcher(const EventSink& sink) : m_sink(sink) {}
    /// Cancels.
    ~CheckpointFetcher() { cancel(); }
    CheckpointFetcher(const CheckpointFetcher&) = delete;
    CheckpointFetcher& operator=(const CheckpointFetcher&) = delete;

    void fetch(const FetchCheckpoint& command);
    /// Cancels the request with this tag, if it is active.
    void giveUp(QueryTag tag);

private:
    void cancel();
    void work(const FetchCheckpoint& command);

    const EventSink& m_sink;
    QueryTag m_tag{};
    std::atomic<bool> m_givenUp = false;
    std::thread m_thread;
};

} // namespace residua::engine
