// SPDX-License-Identifier: GPL-3.0-or-later
// residua-engine --stdio: a session that takes its commands as frames from standard input and writes its events to
// standard output. It runs nothing of what it is sent, and ends when its input ends.
#include "engine/api/environment.h"
#include "engine/wire/messages.h"
#include "projects/base/number_from.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <filesystem>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

namespace residua::engine {
namespace {

constexpr const char* kUsage =
    "residua-engine --stdio: trains and computes for Residua, which starts it and speaks with it. For use in a "
    "terminal: residua-cli --help\n";

/// Writes events in their order on a thread of its own, so that a slow reader does not delay a step.
class EventWriter {
public:
    explicit EventWriter(int descriptor) : m_descriptor(descriptor), m_writing([this] { writeAll(); }) {}
    /// Writes what waits.
    ~EventWriter()
    {
        {
            const std::scoped_lock lock(m_mutex);
            m_quit = true;
        }
        m_wake.notify_one();
        m_writing.join();
    }
    EventWriter(const EventWriter&) = delete;
    EventWriter& operator=(const EventWriter&) = delete;

    void take(Event event)
    {
        {
            const std::scoped_lock lock(m_mutex);
            m_waiting.push_back(std::move(event));
        }
        m_wake.notify_one();
    }

private:
    void writeAll()
    {
        std::unique_lock lock(m_mutex);
        while (true) {
            m_wake.wait(lock, [this] { return m_quit || !m_waiting.empty(); });
            if (m_waiting.empty()) {
                return;
            }
            const Event event = std::move(m_waiting.front());
            m_waiting.pop_front();
            lock.unlock();
            // Fails if the program has ended. The input then ends too.
            [[maybe_unused]] const Status written = writeFrame(m_descriptor, frameOf(event));
            lock.lock();
        }
    }

    int m_descriptor;
    std::mutex m_mutex;
    std::condition_variable m_wake;
    std::deque<Event> m_waiting;
    bool m_quit = false;
    std::thread m_writing;
};

/// Serves one program until its input ends. Returns the exit code.
int serve(int input, int output)
{
    if (!writeFrame(output, frameOf(Hello{buildIdentity(), 0, {}}))) {
        return 1;
    }
    Result<std::optional<Frame>> frame = readFrame(input);
    if (frame && !*frame) {
        return 0;
    }
    const Result<Hello> hello = frame ? helloFrom(**frame) : frame.error();
    if (!hello || hello->build != buildIdentity()) {
        const std::string got = hello ? "a program of the build " + hello->build : hello.error().text();
        dprintf(STDERR_FILENO, "residua-engine: %s; expected one of the build %s\n", got.c_str(), buildIdentity());
        return 1;
    }
    std::error_code ignored; // a program on another machine may be in a folder that is not here
    std::filesystem::current_path(hello->folder, ignored);
    EventWriter writer(output);
    Session session([&](Event event) { writer.take(std::move(event)); }, hello->threads);
    while ((frame = readFrame(input)) && *frame) {
        Result<Command> command = commandFrom(**frame);
        if (!command) {
            dprintf(STDERR_FILENO, "residua-engine: %s\n", command.error().text().c_str());
            return 1;
        }
        session.post(*std::move(command));
    }
    if (!frame) {
        dprintf(STDERR_FILENO, "residua-engine: %s\n", frame.error().text().c_str());
    }
    return frame ? 0 : 1;
}

} // namespace
} // namespace residua::engine

int main(int argc, char** argv)
{
    using namespace residua;
    if (argc < 2 || std::string_view(argv[1]) != "--stdio") {
        dprintf(argc < 2 ? STDERR_FILENO : STDOUT_FILENO, "%s", engine::kUsage);
        return argc < 2 ? 1 : 0;
    }
    constexpr std::string_view kParent = "--parent=";
    if (argc > 2 && std::string_view(argv[2]).starts_with(kParent)) {
        // Ends with the thread that started it, also where that is killed.
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (numberFrom<int>(std::string_view(argv[2]).substr(kParent.size())) != getppid()) {
            return 1;
        }
    }
    engine::startPrepared(argv);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGUSR1, SIGXFSZ}) {
        std::signal(signal, SIG_IGN); // the program that started it hears them, and says what is to be done
    }
    const int output = dup(STDOUT_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO); // what a library prints does not come between frames
    return engine::serve(STDIN_FILENO, output);
}
