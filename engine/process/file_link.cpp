// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/process/file_link.h"

#include "engine/place/remote_place.h"
#include "engine/process/engine_process.h"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

namespace residua::engine {
namespace {

constexpr std::chrono::milliseconds kProgressPause{34};

/// Ends a connection that has failed, and says why.
Error lostConnection(EngineProcess& process, const EnginePlace& place, const std::string& why)
{
    process.close();
    process.kill();
    const std::string end = process.wait();
    return {place.command, "the connection for files was lost: " + why + (end.empty() ? "" : "; its process " + end)};
}

} // namespace

Result<FileConnection> connectForFiles(const EnginePlace& place)
{
    const auto process = std::make_shared<EngineProcess>();
    if (const Status started = process->start(0, place, Serves::Files); !started) {
        return started.error();
    }
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

void CheckpointFetcher::fetch(const FetchCheckpoint& command)
{
    cancel();
    m_givenUp = false;
    m_tag = command.tag;
    m_thread = std::thread([this, command] { work(command); });
}

void CheckpointFetcher::giveUp(QueryTag tag)
{
    if (tag == m_tag) {
        m_givenUp = true;
    }
}

void CheckpointFetcher::cancel()
{
    m_givenUp = true;
    if (m_thread.joinable()) {
        m_thread.join();
    }
}

void CheckpointFetcher::work(const FetchCheckpoint& command)
{
    const std::optional<RemoteRun> remote = remoteRunAt(command.runDirectory);
    Result<FileConnection> connection =
        remote ? connectForFiles(remote->place)
               : Error{command.runDirectory.string(), "has its checkpoints on this machine"};
    if (!connection) {
        m_sink(QueryFailed{command.tag, connection.error()});
        return;
    }
    auto told = std::chrono::steady_clock::now();
    const auto watch = [&](double share) {
        if (const auto now = std::chrono::steady_clock::now(); now - told >= kProgressPause) {
            told = now;
            m_sink(FetchProgress{command.tag, share});
        }
        return !m_givenUp;
    };
    PlaceFiles files(*std::move(connection));
    const Result<FetchedCheckpoint> fetched =
        files.fetchCheckpoint(remote->directory, command.step, command.runDirectory, watch);
    if (fetched) {
        m_sink(CheckpointFetched{command.tag, fetched->directory, fetched->step, fetched->bytes});
    } else {
        m_sink(QueryFailed{command.tag, fetched.error()});
    }
}

} // namespace residua::engine
