// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/process/engine_process.h"

#include "engine/host/own_library.h"
#include "projects/base/text.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

namespace residua::engine {
namespace {

constexpr const char* kProgram = "residua-engine";
/// Names the program in place of the one beside this one, or is a command line that ends in it.
constexpr const char* kVariable = "RESIDUA_ENGINE";
constexpr const char* kWithout = "the engine, without which nothing is trained or computed, ";
constexpr std::size_t kKeptLines = 8;
constexpr std::chrono::seconds kPatience{10};    ///< for the background engine
constexpr std::chrono::seconds kBusyPatience{5}; ///< for the program that it serves, which may be about to leave
constexpr std::chrono::milliseconds kPause{20};

using Pipe = std::array<int, 2>;

void closeBoth(const Pipe& pipe)
{
    for (const int end : pipe) {
        if (end >= 0) {
            close(end);
        }
    }
}

/// Returns the command line in the variable; null if it names a file or is not set.
const char* givenCommand()
{
    const char* const named = std::getenv(kVariable);
    std::error_code ignored;
    const bool isCommand = named != nullptr && std::strchr(named, ' ') != nullptr;
    return isCommand && !std::filesystem::exists(named, ignored) ? named : nullptr;
}

Error notInstalled()
{
    const char* const named = std::getenv(kVariable);
    const std::string missing =
        named != nullptr ? std::string("is not where ") + kVariable + " says, at " + named + ": unset that variable, or"
                         : "is not installed beside the program:";
    return {kProgram, kWithout + missing + " install it again"};
}

Error doesNotStart(const std::string& path, const std::string& end, bool isCommand)
{
    return {path, kWithout + std::string("does not start (it ") + end + ")" +
                      (isCommand ? "" : ": residua-setup, or in a checkout packaging/setup.sh, installs LibTorch")};
}

/// Refuses an engine of another build, and one that refuses this program.
Status checkHello(const Result<Hello>& hello, const std::string& place)
{
    if (!hello || hello->build != buildIdentity()) {
        const std::string got =
            hello ? "it is of the build " + hello->build + ", expected " + buildIdentity() : hello.error().text();
        return Error{place, "is not the engine of this version of the program (" + got + "): install both again"};
    }
    return hello->refusal.empty() ? Status(Done{}) : Error{kProgram, hello->refusal};
}

/// Sets the time after which a read fails; 0: none.
void limitReading(int socket, std::chrono::seconds limit)
{
    const timeval time{limit.count(), 0};
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
}

/// Returns the last lines of a file, oldest first.
std::vector<std::string> lastLinesOf(const std::filesystem::path& path)
{
    std::ifstream file(path);
    std::deque<std::string> lines;
    for (std::string line; std::getline(file, line);) {
        if (!line.empty()) {
            lines.push_back(line);
        }
        if (lines.size() > kKeptLines) {
            lines.pop_front();
        }
    }
    return {lines.begin(), lines.end()};
}

} // namespace

EngineProcess::~EngineProcess()
{
    close();
    [[maybe_unused]] const std::string end = wait();
    for (const int descriptor : {m_events, m_errors}) {
        if (descriptor >= 0) {
            ::close(descriptor);
        }
    }
}

Status EngineProcess::start(int threads, const EnginePlace& place, Serves serves)
{
    const Status started = place.kind == EnginePlace::Kind::Background ? connectToBackground() : startChild(place);
    if (!started) {
        return started;
    }
    std::error_code ignored; // a folder that was deleted has no path
    const bool isOwn = place.folder.empty();
    return send(frameOf(Hello{buildIdentity(),
                              threads,
                              isOwn ? std::filesystem::current_path(ignored) : place.folder,
                              {},
                              serves == Serves::Session && !isOwn ? Serves::PlaceFolder : serves}));
}

Status EngineProcess::startChild(const EnginePlace& place)
{
    const char* const command = place.kind == EnginePlace::Kind::CommandLine ? place.command.c_str() : givenCommand();
    const std::string path = command != nullptr ? command : findOwnLibrary(kProgram, kVariable, "bin").string();
    if (path.empty()) {
        return notInstalled();
    }
    const std::vector<std::string> words =
        command != nullptr ? std::vector<std::string>{"/bin/sh", "-c", command}
                           : std::vector<std::string>{path, "--stdio", "--parent=" + std::to_string(getpid())};
    if (const Status spawned = spawn(words); !spawned) {
        return spawned;
    }
    const Result<std::optional<Frame>> frame = readFrame(m_events);
    if (frame && !*frame) {
        return doesNotStart(path, wait(), command != nullptr);
    }
    const Status fits = checkHello(frame ? helloFrom(**frame) : frame.error(), path);
    if (!fits) {
        kill();
    }
    return fits;
}

/// Connects to the background engine; starts it if none answers. Another program may start one at the same time, the
/// engine may be about to end because it was idle, or the program that it serves may be leaving: then tries again.
Status EngineProcess::connectToBackground()
{
    const Result<BackgroundFiles> files = backgroundFiles();
    if (!files) {
        return files.error();
    }
    m_log = files->log();
    const auto begin = std::chrono::steady_clock::now();
    for (auto now = begin; now < begin + kPatience; now = std::chrono::steady_clock::now()) {
        const Result<Attempt> tried = tryBackground(*files, now < begin + kBusyPatience);
        if (!tried || *tried == Attempt::Connected) {
            return tried ? Status(Done{}) : tried.error();
        }
        if (*tried == Attempt::Busy) {
            std::this_thread::sleep_for(kPause);
            continue;
        }
        const std::string path = findOwnLibrary(kProgram, kVariable, "bin").string();
        if (path.empty()) {
            return notInstalled();
        }
        EngineProcess starter;
        if (const Status spawned = starter.spawn({path, "--background"}); !spawned) {
            return spawned;
        }
        if (const std::string end = starter.wait(); !end.empty()) {
            return doesNotStart(path, end, false);
        }
        std::this_thread::sleep_for(kPause);
    }
    return Error{files->socket().string(),
                 "no background engine answers there, although one runs: end it, and try again"};
}

/// If another program is served, returns Busy if `waitsForOther`, or else the engine's refusal.
Result<EngineProcess::Attempt> EngineProcess::tryBackground(const BackgroundFiles& files, bool waitsForOther)
{
    const Result<FileDescriptor> socket = engine::connectToBackground(files);
    if (!socket || !socket->isOpen()) {
        return socket ? Result<Attempt>(Attempt::NoEngine) : socket.error();
    }
    limitReading(socket->get(), kPatience); // an engine that stands still does not hold up this process
    const Result<std::optional<Frame>> frame = readFrame(socket->get());
    if (!frame || !*frame) {
        return Attempt::NoEngine;
    }
    limitReading(socket->get(), {});
    const Result<Hello> hello = helloFrom(**frame);
    if (const Status fits = checkHello(hello, files.socket().string()); !fits) {
        return waitsForOther && hello && !hello->refusal.empty() ? Result<Attempt>(Attempt::Busy) : fits.error();
    }
    m_commands = fcntl(socket->get(), F_DUPFD_CLOEXEC, 0);
    m_events = fcntl(socket->get(), F_DUPFD_CLOEXEC, 0);
    return m_commands >= 0 && m_events >= 0 ? Result<Attempt>(Attempt::Connected)
                                            : systemError(files.socket(), "cannot be connected to", errno);
}

Status EngineProcess::spawn(std::vector<std::string> words)
{
    Pipe commands{-1, -1};
    Pipe events{-1, -1};
    Pipe errors{-1, -1};
    int failed = 0;
    for (Pipe* const each : {&commands, &events, &errors}) {
        failed = failed == 0 && pipe2(each->data(), O_CLOEXEC) != 0 ? errno : failed;
    }
    if (failed == 0) {
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, commands[0], STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&actions, events[1], STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO);
        posix_spawnattr_t attributes;
        posix_spawnattr_init(&attributes);
        sigset_t none;
        sigemptyset(&none);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        std::vector<char*> arguments;
        for (std::string& word : words) {
            arguments.push_back(word.data());
        }
        arguments.push_back(nullptr);
        failed = posix_spawn(&m_child, words[0].c_str(), &actions, &attributes, arguments.data(), environ);
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
    }
    m_commands = std::exchange(commands[1], -1);
    m_events = std::exchange(events[0], -1);
    m_errors = std::exchange(errors[0], -1);
    closeBoth(commands);
    closeBoth(events);
    closeBoth(errors);
    if (failed != 0) {
        m_child = -1;
        return Error{words[0],
                     kWithout + std::string("cannot be started: ") + std::strerror(failed) + ": install it again"};
    }
    m_copying = std::thread([this] { copyErrors(); });
    return Done{};
}

void EngineProcess::copyErrors()
{
    std::string line;
    std::array<char, 4096> part{};
    for (ssize_t got = 0; (got = read(m_errors, part.data(), part.size())) != 0;) {
        if (got < 0) {
            if (errno == EINTR) {
                continue;
            }
            break;
        }
        const auto count = static_cast<std::size_t>(got);
        [[maybe_unused]] const ssize_t passed = write(STDERR_FILENO, part.data(), count);
        const std::scoped_lock lock(m_mutex);
        for (const char c : std::string_view(part.data(), count)) {
            if (c != '\n') {
                line += c;
            } else if (!line.empty()) {
                m_lines.push_back(std::exchange(line, {}));
            }
        }
        while (m_lines.size() > kKeptLines) {
            m_lines.pop_front();
        }
    }
    const std::scoped_lock lock(m_mutex);
    if (!line.empty()) {
        m_lines.push_back(line);
    }
}

Status EngineProcess::send(const Frame& frame)
{
    return writeFrame(m_commands, frame);
}

Result<std::optional<Frame>> EngineProcess::receive()
{
    return readFrame(m_events);
}

Status EngineProcess::post(const Command& command)
{
    return send(frameOf(command));
}

Result<std::optional<Event>> EngineProcess::next()
{
    Result<std::optional<Frame>> frame = receive();
    if (!frame) {
        return frame.error();
    }
    if (!*frame) {
        return std::optional<Event>();
    }
    Result<Event> event = eventFrom(**frame);
    return event ? Result<std::optional<Event>>(*std::move(event)) : event.error();
}

void EngineProcess::close()
{
    if (m_commands >= 0) {
        if (!m_log.empty()) {
            shutdown(m_commands, SHUT_RDWR); // next() returns, and what was posted still arrives
        }
        ::close(std::exchange(m_commands, -1));
    }
}

void EngineProcess::kill()
{
    if (m_child > 0) {
        ::kill(m_child, SIGKILL);
    } else if (m_events >= 0) {
        shutdown(m_events, SHUT_RDWR);
    }
}

std::string EngineProcess::wait()
{
    if (!m_log.empty()) {
        const std::vector<std::string> lines = lastLinesOf(m_log);
        return lines.empty() ? "in the background ended"
                             : "in the background ended; its last lines: " + joinedText(lines, " / ");
    }
    if (!m_copying.joinable()) {
        return {}; // not started, or ended
    }
    int status = 0;
    while (waitpid(m_child, &status, 0) < 0 && errno == EINTR) {
    }
    m_copying.join();
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return {};
    }
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    std::string end = signal == 0 ? "ended with code " + std::to_string(WEXITSTATUS(status))
                                  : "was ended by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
    if (signal == SIGKILL) {
        end += ", as the system does where memory runs out";
    }
    return m_lines.empty() ? end : end + "; its last lines: " + joinedText(m_lines, " / ");
}

} // namespace residua::engine
