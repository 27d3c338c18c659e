// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/link/process/file_link.h"

#include "engine/base/machine/failure.h"
#include "engine/link/remote/remote_engine.h"

#include <chrono>
#include <optional>
#include <utility>

namespace residua::engine {
namespace {

constexpr std::chrono::milliseconds kProgressPause{34};

/// Ends a connection that has failed, and says why.
Error lostConnection(EngineProcess& process, const EngineRemote& place, const std::string& why)
{
    process.close();
    process.kill();
    const std::string end = process.wait();
    return {place.command, "the connection for files was lost: " + why + (end.empty() ? "" : "; its process " + end)};
}

} // namespace

void RemoteWork::cancel()
{
    std::vector<std::weak_ptr<EngineProcess>> processes;
    {
        const std::scoped_lock lock(m_mutex);
        m_cancelled = true;
        processes.swap(m_processes);
    }
    for (const auto& each : processes) {
        if (const auto process = each.lock()) {
            process->kill();
        }
    }
}

bool RemoteWork::isCancelled() const
{
    const std::scoped_lock lock(m_mutex);
    return m_cancelled;
}

void RemoteWork::add(const std::shared_ptr<EngineProcess>& process)
{
    {
        const std::scoped_lock lock(m_mutex);
        m_processes.push_back(process);
    }
    if (isCancelled()) {
        process->kill();
    }
}

Result<FileConnection> connectForFiles(const EngineRemote& place, RemoteWork& work, const StartWatch& watch)
{
    const auto process = std::make_shared<EngineProcess>();
    work.add(process);
    RESIDUA_TRY(process->start(0, place, Serves::Files, watch));
    FileConnection connection;
    connection.send = [process, place](const Frame& frame) -> Status {
        const Status sent = process->send(frame);
        return sent ? sent : lostConnection(*process, place, sent.error().message);
    };
    connection.receive = [process, place]() -> Result<Frame> {
        Result<std::optional<Frame>> frame = process->receive();
        if (frame && *frame) {
            return **std::move(frame);
        }
        return lostConnection(*process, place, frame ? "it was closed" : frame.error().message);
    };
    return connection;
}

void CheckpointFetcher::fetch(const FetchCheckpoint& command, const EngineRemote& place)
{
    cancel();
    const auto active = std::make_shared<RemoteWork>();
    {
        const std::scoped_lock lock(m_mutex);
        m_tag = command.tag;
        m_work = active;
    }
    m_thread = std::thread([this, command, place, active] {
        if (const auto failure = attemptStandard([&] { work(command, place, *active); })) {
            m_sink(QueryFailed{command.tag, Error{"engine's connection", failure->text}});
        }
    });
}

void CheckpointFetcher::giveUp(QueryTag tag)
{
    std::shared_ptr<RemoteWork> active;
    {
        const std::scoped_lock lock(m_mutex);
        active = tag == m_tag ? m_work : nullptr;
    }
    if (active) {
        active->cancel();
    }
}

void CheckpointFetcher::giveUpAll()
{
    std::shared_ptr<RemoteWork> active;
    {
        const std::scoped_lock lock(m_mutex);
        active = m_work;
    }
    if (active) {
        active->cancel();
    }
}

void CheckpointFetcher::cancel()
{
    giveUpAll();
    if (m_thread.joinable()) {
        m_thread.join();
    }
}

void CheckpointFetcher::work(const FetchCheckpoint& command, const EngineRemote& place, RemoteWork& work)
{
    const std::optional<RemoteRun> remote = remoteRunAt(command.runDirectory);
    Result<FileConnection> connection =
        remote
            ? connectForFiles(place, work,
                              [&](const std::string& text) { m_sink(QueryProgress{.tag = command.tag, .text = text}); })
            : Error{command.runDirectory.string(), "has its checkpoints on this machine"};
    if (!connection) {
        m_sink(QueryFailed{command.tag, connection.error()});
        return;
    }
    auto told = std::chrono::steady_clock::now();
    const auto watch = [&](double share) {
        if (const auto now = std::chrono::steady_clock::now(); now - told >= kProgressPause) {
            told = now;
            m_sink(QueryProgress{command.tag, share});
        }
        return !work.isCancelled();
    };
    RemoteFiles files(*std::move(connection));
    const Result<FetchedCheckpoint> fetched =
        files.fetchCheckpoint(remote->directory, command.step, command.runDirectory, watch);
    if (fetched) {
        m_sink(CheckpointFetched{command.tag, fetched->directory, fetched->step, fetched->bytes, fetched->notes});
    } else {
        m_sink(QueryFailed{command.tag, work.isCancelled() ? queryGivenUp() : fetched.error()});
    }
}

} // namespace residua::engine
