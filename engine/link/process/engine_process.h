// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/machine/background_files.h"
#include "engine/link/wire/messages.h"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace residua::engine {

/// Receives a line about a long start, for the user, on the thread that starts.
using StartWatch = std::function<void(const std::string& text)>;

/// The program residua-engine as a child process, which speaks frames on its standard input and output. It ends with
/// the thread that started it, as if it were part of this process. Its standard error is passed on to this process's,
/// and its last lines are kept. Or the background engine of this user, which is started if none runs. One thread may
/// start and close, and another one receive and wait; any thread may send and kill.
class EngineProcess {
public:
    EngineProcess();
    /// Closes the connection and waits for the end.
    ~EngineProcess();
    EngineProcess(const EngineProcess&) = delete;
    EngineProcess& operator=(const EngineProcess&) = delete;

    /// Starts the program at `place` and exchanges Hello. RESIDUA_ENGINE may name another program than the one beside
    /// this one, or be a command line that ends in it: "ssh gpu1 residua-engine --stdio", where both machines see the
    /// same folders. The error names the path, the cause and a remedy. Takes some 0.5 s, in which LibTorch is loaded,
    /// and at most kGreetingLimitSeconds; kill() ends it at once. `serves` is Session unless the connection is for
    /// files; a place with a folder then serves that folder.
    [[nodiscard]] Status start(int threads, const EngineRemote& place = {}, Serves serves = Serves::Session,
                               const StartWatch& watch = {});

    [[nodiscard]] Status post(const Command& command);
    /// Waits for the next event. Returns nullopt when the process has ended, and an error if a message is no event, or
    /// the process takes no commands any more.
    [[nodiscard]] Result<std::optional<Event>> next();
    /// Sends or waits for a message that is no command or event.
    [[nodiscard]] Status send(const Frame& frame);
    [[nodiscard]] Result<std::optional<Frame>> receive();
    /// Ends the stream of commands. A child stops a running run after a checkpoint, and ends; the background engine
    /// continues without this process.
    void close();
    /// Waits for the end and describes it with the last lines of its errors. Empty if it ended by itself without one.
    /// A process that sends no events any more ends; one that does not do so within `limit` is ended.
    [[nodiscard]] std::string wait(std::chrono::seconds limit = std::chrono::seconds(5));
    /// Ends a child and the processes that it has started at once, or the connection to the background engine. All
    /// waits of other threads for this process end.
    void kill();

private:
    [[nodiscard]] Status startChild(const EngineRemote& place, const StartWatch& watch);
    [[nodiscard]] Status awaitGreeting(const std::string& path, const StartWatch& watch);
    [[nodiscard]] Status checkGreeting(const Result<std::optional<Frame>>& frame, const std::string& path,
                                       bool isCommand);
    [[nodiscard]] Status connectToBackground();
    [[nodiscard]] Status startBackground();
    /// The result of one try to connect to the background engine.
    enum class Attempt {
        Connected,
        NoEngine, ///< none listens, or it ends
        Busy,     ///< it serves another program
    };
    [[nodiscard]] Result<Attempt> tryBackground(const BackgroundFiles& files, bool waitsForOther);
    [[nodiscard]] Status spawn(std::vector<std::string> words);
    void copyErrors();
    void copyLines(std::string& line, std::string_view part);
    [[nodiscard]] FrameWait waitFor(std::chrono::seconds limit) const;
    [[nodiscard]] bool isKilled();
    [[nodiscard]] bool hasChild();
    /// Waits for the child's end, until `limit` or a kill. Returns its status, or nullopt if it has not ended.
    [[nodiscard]] std::optional<int> awaitExit(std::chrono::seconds limit);

    FileDescriptor m_cancel;       ///< eventfd, written by kill()
    FileDescriptor m_refused;      ///< eventfd, written if a message cannot be sent
    FileDescriptor m_exited;       ///< eventfd, written when the child has ended
    bool m_isBackground = false;   ///< not a child
    std::uintmax_t m_logBegin = 0; ///< the size of the background engine's log when the connection began
    int m_events = -1;
    int m_errors = -1;
    std::mutex m_sending; ///< protects m_commands
    int m_commands = -1;
    std::mutex m_mutex; ///< protects the members up to m_lines
    pid_t m_child = -1; ///< until it has been waited for
    bool m_killed = false;
    std::shared_ptr<EngineProcess> m_starter;                         ///< while it starts the background engine
    std::optional<std::chrono::steady_clock::time_point> m_refusedAt; ///< the first time
    std::deque<std::string> m_lines;
    std::thread m_copying;
};

} // namespace residua::engine
