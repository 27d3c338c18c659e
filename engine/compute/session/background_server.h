// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/session.h"
#include "engine/base/machine/background_files.h"
#include "engine/link/wire/event_writer.h"
#include "engine/link/wire/messages.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

namespace residua::engine {

/// A session for the programs of this user that connect one after the other. If a program disconnects, its queries are
/// given up and its run continues. The next program receives that run as kFoundRun, with the progress that the run's
/// store may lack.
///
/// Every program numbers its runs and queries from 1. Within this process each number also carries the number of the
/// program, so that events of earlier programs are recognised.
class BackgroundServer {
public:
    /// `lock` is lockBackground()'s, and `listener` accepts the programs. Both are made anew if somebody removes their
    /// files. `idle` is the time without a program and without a run after which it ends.
    BackgroundServer(BackgroundFiles files, FileDescriptor lock, FileDescriptor listener, std::chrono::seconds idle);
    ~BackgroundServer();
    BackgroundServer(const BackgroundServer&) = delete;
    BackgroundServer& operator=(const BackgroundServer&) = delete;

    /// Serves until it is idle for long enough, or until SIGTERM. Its run then stops after a checkpoint.
    void serve();

private:
    /// A connected program.
    struct Client {
        FileDescriptor socket;
        std::optional<EventWriter> writer; ///< once it is welcome
        std::thread reading;
    };
    using Clock = std::chrono::steady_clock;
    struct Recent {
        Clock::time_point time;
        Progress progress;
    };

    [[nodiscard]] int millisecondsLeft();
    [[nodiscard]] bool isReachable();
    void listenAgain();
    void watchFiles();
    void noteRun(const RunStarted& started);
    void forgetRun();
    void accept();
    void disconnect();
    void read(Client& client);
    [[nodiscard]] Status readAll(Client& client);
    [[nodiscard]] Status welcome(Client& client);
    void startSession(int threads);
    void showFoundRun(EventWriter& writer);
    [[nodiscard]] bool post(Command command);
    void giveUpQueries();
    void receive(Event event);
    void note(const Event& event);
    void noteEnd(const RunEnded& ended);
    [[nodiscard]] bool isForProgram(const Event& event) const;
    void keepRecent(const Progress& progress);

    BackgroundFiles m_files;
    FileDescriptor m_lock; ///< changed by serve() alone, with m_mutex
    FileDescriptor m_listener;
    FileDescriptor m_changes;  ///< inotify
    FileDescriptor m_signals;  ///< signalfd
    FileDescriptor m_runEnded; ///< eventfd
    std::chrono::seconds m_idle;
    Clock::time_point m_busyUntil;
    int m_threads = 0; ///< of the session

    std::mutex m_mutex; ///< protects the members up to m_recentBytes, and m_client
    std::uint64_t m_program = 0;
    std::set<QueryTag> m_asked;        ///< not yet answered
    int m_runs = 0;                    ///< begun and not ended
    std::optional<RunStarted> m_begun; ///< the run under way; firstStep is its last step
    std::string m_identity;            ///< of that run
    std::optional<RunPaused> m_paused;
    std::deque<Recent> m_recent;
    std::size_t m_recentBytes = 0;

    std::unique_ptr<Client> m_client;
    std::unique_ptr<Session> m_session; ///< last, because its thread uses the other members
};

} // namespace residua::engine
