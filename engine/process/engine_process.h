// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/host/background_files.h"
#include "engine/wire/messages.h"

#include <sys/types.h>

#include <deque>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace residua::engine {

/// The program residua-engine as a child process, which speaks frames on its standard input and output. It ends with
/// the thread that started it, as if it were part of this process. Its standard error is passed on to this process's,
/// and its last lines are kept. Or the background engine of this user, which is started if none runs. One thread may
/// start, post and close, and another one receive and wait.
class EngineProcess {
public:
    EngineProcess() = default;
    /// Closes the connection and waits for the end.
    ~EngineProcess();
    EngineProcess(const EngineProcess&) = delete;
    EngineProcess& operator=(const EngineProcess&) = delete;

    /// Starts the program at `place` and exchanges Hello. RESIDUA_ENGINE may name another program than the one beside
    /// this one, or be a command line that ends in it: "ssh gpu1 residua-engine --stdio", where both machines see the
    /// same folders. The error names the path, the cause and a remedy. Takes some 0.5 s, in which LibTorch is loaded.
    /// `serves` is Session unless the connection is for files; a place with a folder then serves that folder.
    [[nodiscard]] Status start(int threads, const EnginePlace& place = {}, Serves serves = Serves::Session);

    [[nodiscard]] Status post(const Command& command);
    /// Waits for the next event. Returns nullopt when the process has ended, and an error if a message is no event.
    [[nodiscard]] Result<std::optional<Event>> next();
    /// Sends or waits for a message that is no command or event.
    [[nodiscard]] Status send(const Frame& frame);
    [[nodiscard]] Result<std::optional<Frame>> receive();
    /// Ends the stream of commands. A child stops a running run after a checkpoint, and ends; the background engine
    /// continues without this process.
    void close();
    /// Waits for the end and describes it with the last lines of its errors. Empty if it ended by itself without one.
    /// A process that sends no events any more ends.
    [[nodiscard]] std::string wait();
    /// Ends a child at once, or the connection to the background engine.
    void kill();

private:
    [[nodiscard]] Status startChild(const EnginePlace& place);
    [[nodiscard]] Status connectToBackground();
    /// The result of one try to connect to the background engine.
    enum class Attempt {
        Connected,
        NoEngine, ///< none listens, or it ends
        Busy,     ///< it serves another program
    };
    [[nodiscard]] Result<Attempt> tryBackground(const BackgroundFiles& files, bool waitsForOther);
    [[nodiscard]] Status spawn(std::vector<std::string> words);
    void copyErrors();

    pid_t m_child = -1;
    std::filesystem::path m_log; ///< of the background engine; empty for a child
    int m_commands = -1;
    int m_events = -1;
    int m_errors = -1;
    std::mutex m_mutex; ///< protects m_lines
    std::deque<std::string> m_lines;
    std::thread m_copying;
};

} // namespace residua::engine
