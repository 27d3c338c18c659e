// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/session.h"
#include "engine/link/process/engine_process.h"
#include "engine/link/remote/remote_files.h"
#include "projects/base/result.h"

#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace residua::engine {

/// A piece of work that waits for a place. Another thread may cancel it, which ends its processes at once.
class RemoteWork {
public:
    void cancel();
    [[nodiscard]] bool isCancelled() const;
    /// Ends the process with the work; at once if that has been cancelled.
    void add(const std::shared_ptr<EngineProcess>& process);

private:
    mutable std::mutex m_mutex;
    bool m_cancelled = false;
    std::vector<std::weak_ptr<EngineProcess>> m_processes;
};

/// Starts an engine at `place` that serves its files. The connection ends with the last copy of the returned value, or
/// with `work`. `watch` is EngineProcess::start()'s.
[[nodiscard]] Result<FileConnection> connectForFiles(const EngineRemote& place, RemoteWork& work,
                                                     const StartWatch& watch);

/// Fetches checkpoints on a thread of its own, one at a time. A newer request cancels an older one.
class CheckpointFetcher {
public:
    explicit CheckpointFetcher(const EventSink& sink) : m_sink(sink) {}
    /// Cancels.
    ~CheckpointFetcher() { cancel(); }
    CheckpointFetcher(const CheckpointFetcher&) = delete;
    CheckpointFetcher& operator=(const CheckpointFetcher&) = delete;

    /// Fetches a checkpoint of the run from `place`.
    void fetch(const FetchCheckpoint& command, const EngineRemote& place);
    /// Cancels the request with this tag, if it is active. Any thread.
    void giveUp(QueryTag tag);
    /// Cancels the active request, without waiting for its end. Any thread.
    void giveUpAll();

private:
    void cancel();
    void work(const FetchCheckpoint& command, const EngineRemote& place, RemoteWork& work);

    const EventSink& m_sink;
    std::mutex m_mutex; ///< protects m_tag and m_work
    QueryTag m_tag{};
    std::shared_ptr<RemoteWork> m_work;
    std::thread m_thread;
};

} // namespace residua::engine
