// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/link/process/engine_process.h"

#include "engine/base/api/environment.h"
#include "engine/base/machine/failure.h"
#include "engine/base/machine/machine.h"
#include "engine/link/process/shown_errors.h"
#include "projects/base/mapped.h"
#include "projects/base/text.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace residua::engine {
namespace {

constexpr const char* kProgram = "residua-engine";
/// Names the program in place of the one beside this one, or is a command line that ends in it.
constexpr const char* kVariable = "RESIDUA_ENGINE";
constexpr const char* kWithout = "the engine, without which nothing is trained or computed, ";
constexpr std::size_t kKeptLines = 8;
constexpr std::size_t kLongestLine = 4096;         ///< of the kept lines; the rest of a longer one is dropped
constexpr std::uintmax_t kReadLog = 64 * 1024;     ///< bytes at the end of a log in which its last lines are
constexpr std::chrono::seconds kSilence{60};       ///< in which a process takes no byte of a message
constexpr std::chrono::seconds kOneDirection{2};   ///< for which a process that takes no commands is heard
constexpr std::chrono::seconds kKilledPatience{2}; ///< for the exit of one that was killed
constexpr std::chrono::seconds kFirstNotice{3};    ///< without a greeting, after which the wait is told
constexpr std::chrono::seconds kNextNotice{30};
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
    const bool isCommand = named != nullptr && std::strchr(named, ' ') != nullptr;
    return isCommand && !isThere(named) ? named : nullptr;
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

/// Returns the time limit for a greeting; nullopt: none.
std::optional<std::chrono::seconds> greetingLimit()
{
    const char* const given = std::getenv(kGreetingLimitVariable);
    const std::optional<int> seconds = given != nullptr ? numberFrom<int>(given) : std::nullopt;
    const int limit = seconds && *seconds >= 0 ? *seconds : kGreetingLimitSeconds;
    return limit > 0 ? std::optional(std::chrono::seconds(limit)) : std::nullopt;
}

std::uintmax_t sizeOf(const FileDescriptor& file)
{
    struct stat found {};
    return file.isOpen() && fstat(file.get(), &found) == 0 ? static_cast<std::uintmax_t>(found.st_size) : 0;
}

/// Returns the last lines of the background engine's log after its first `begin` bytes, oldest first.
std::vector<std::string> lastLinesOfLog(std::uintmax_t begin)
{
    const FileDescriptor file = readBackgroundLog();
    const std::uintmax_t size = sizeOf(file);
    begin = std::max(begin <= size ? begin : 0, size > kReadLog ? size - kReadLog : 0); // a shorter one was begun anew
    std::string text(size - begin, '\0');
    const ssize_t got = file.isOpen() ? pread(file.get(), text.data(), text.size(), static_cast<off_t>(begin)) : 0;
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    std::deque<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        if (!line.empty()) {
            lines.push_back(line.substr(0, kLongestLine));
        }
        if (lines.size() > kKeptLines) {
            lines.pop_front();
        }
    }
    return {lines.begin(), lines.end()};
}

/// Kills a child and all processes below it. A stopped process waits for none of its children, so their ids stay
/// theirs.
void killWithChildren(pid_t process)
{
    kill(process, SIGSTOP);
    const std::string id = std::to_string(process);
    std::ifstream children("/proc/" + id + "/task/" + id + "/children");
    for (pid_t child = 0; children >> child;) {
        killWithChildren(child);
    }
    kill(process, SIGKILL);
}

void setNonBlocking(int descriptor)
{
    fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

FileDescriptor newEvent()
{
    return FileDescriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}

template <class Lines>
std::string lastLinesText(const Lines& lines)
{
    return lines.empty() ? std::string() : "; its last lines: " + joinedText(lines, " / ");
}

} // namespace

EngineProcess::EngineProcess() : m_cancel(newEvent()), m_refused(newEvent()), m_exited(newEvent()) {}

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

Status EngineProcess::start(int threads, const EngineRemote& place, Serves serves, const StartWatch& watch)
{
    RESIDUA_TRY(place.kind == EngineRemote::Kind::Background ? connectToBackground() : startChild(place, watch));
    std::error_code ignored; // a folder that was deleted has no path
    const bool isOwn = place.folder.empty();
    return send(frameOf(Hello{buildIdentity(),
                              threads,
                              isOwn ? std::filesystem::current_path(ignored) : place.folder,
                              {},
                              serves == Serves::Session && !isOwn ? Serves::PlaceFolder : serves}));
}

Status EngineProcess::startChild(const EngineRemote& place, const StartWatch& watch)
{
    const char* const command = place.kind == EngineRemote::Kind::CommandLine ? place.command.c_str() : givenCommand();
    const std::string path = command != nullptr ? command : findOwnLibrary(kProgram, kVariable, "bin").string();
    if (path.empty()) {
        return notInstalled();
    }
    const std::vector<std::string> words =
        command != nullptr ? std::vector<std::string>{"/bin/sh", "-c", command}
                           : std::vector<std::string>{path, "--stdio", "--parent=" + std::to_string(getpid())};
    RESIDUA_TRY(spawn(words));
    // The program's own engine asks for nothing: it only loads for longer on a busy machine.
    if (const Status came = awaitGreeting(path, command != nullptr ? watch : StartWatch()); !came) {
        kill();
        [[maybe_unused]] const std::string end = wait();
        return Error{came.error().place, came.error().message + lastLinesText(m_lines)};
    }
    const std::chrono::seconds limit = std::min(kPatience, greetingLimit().value_or(kPatience));
    const Result<std::optional<Frame>> frame = readFrame(m_events, waitFor(limit));
    const Status fits = checkGreeting(frame, path, command != nullptr);
    if (!fits) {
        kill();
    }
    return fits;
}

/// Waits for the first byte of a child, or its end.
Status EngineProcess::awaitGreeting(const std::string& path, const StartWatch& watch)
{
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    const std::optional<std::chrono::seconds> limit = greetingLimit();
    const auto secondsSince = [begin] {
        return std::to_string(std::chrono::round<std::chrono::seconds>(Clock::now() - begin).count()) + " s";
    };
    for (auto next = begin + kFirstNotice; true; next += kNextNotice) {
        const auto until = limit ? std::min(next, begin + *limit) : next;
        const Status came = awaitBytes(m_events, {.cancel = m_cancel.get(), .until = until});
        if (came) {
            return came;
        }
        if (isKilled() || Clock::now() < until) {
            return Error{path, isKilled() ? "was given up before its first answer" : came.error().message};
        }
        if (limit && Clock::now() >= begin + *limit) {
            return Error{path, "has not answered within " + secondsSince() +
                                   ": try the command in a terminal, where it may ask for something; " +
                                   kGreetingLimitVariable + " gives it more seconds"};
        }
        if (watch) {
            watch("waiting for the first answer of " + path + ", for " + secondsSince() +
                  (limit ? " of at most " + std::to_string(limit->count()) + " s" : "") +
                  "; if it asks for a passphrase, type it");
        }
    }
}

Status EngineProcess::checkGreeting(const Result<std::optional<Frame>>& frame, const std::string& path, bool isCommand)
{
    if (frame && !*frame) {
        return doesNotStart(path, wait(), isCommand);
    }
    if (!frame && isCommand && frame.error().message.starts_with(kNoMessage)) {
        return Error{path, frame.error().message +
                               ". A shell start-up file there prints it, such as ~/.bashrc: start-up files must print "
                               "nothing where there is no terminal"};
    }
    return checkHello(frame ? helloFrom(**frame) : frame.error(), path);
}

/// Connects to the background engine; starts it if none answers. Another program may start one at the same time, the
/// engine may be about to end because it was idle, or the program that it serves may be leaving: then tries again.
Status EngineProcess::connectToBackground()
{
    const BackgroundFiles files = RESIDUA_TRY(backgroundFiles());
    m_isBackground = true;
    const auto begin = std::chrono::steady_clock::now();
    for (auto now = begin; now < begin + kPatience; now = std::chrono::steady_clock::now()) {
        if (isKilled()) {
            return Error{files.socket().string(), "was given up before its first answer"};
        }
        const Result<Attempt> tried = tryBackground(files, now < begin + kBusyPatience);
        if (!tried || *tried == Attempt::Connected) {
            return tried ? Status(Done{}) : tried.error();
        }
        if (*tried == Attempt::Busy) {
            std::this_thread::sleep_for(kPause);
            continue;
        }
        RESIDUA_TRY(startBackground());
        std::this_thread::sleep_for(kPause);
    }
    const std::optional<pid_t> owner = backgroundOwner(files);
    return Error{files.socket().string(), "no background engine answers there, although one runs" +
                                              (owner ? " as process " + std::to_string(*owner) : std::string()) +
                                              ": end it" + (owner ? ", with kill " + std::to_string(*owner) : "") +
                                              ", and try again"};
}

/// Starts the background engine, unless one runs. Waits until it listens.
Status EngineProcess::startBackground()
{
    const std::string path = findOwnLibrary(kProgram, kVariable, "bin").string();
    if (path.empty()) {
        return notInstalled();
    }
    const auto starter = std::make_shared<EngineProcess>();
    RESIDUA_TRY(starter->spawn({path, "--background"}));
    {
        const std::scoped_lock lock(m_mutex);
        m_starter = starter;
    }
    if (isKilled()) {
        starter->kill();
    }
    const std::string end = starter->wait(greetingLimit().value_or(std::chrono::hours(1)));
    const std::scoped_lock lock(m_mutex);
    m_starter.reset();
    return end.empty() ? Status(Done{}) : doesNotStart(path, end, false);
}

/// If another program is served, returns Busy if `waitsForOther`, or else the engine's refusal.
Result<EngineProcess::Attempt> EngineProcess::tryBackground(const BackgroundFiles& files, bool waitsForOther)
{
    const Result<FileDescriptor> socket = engine::connectToBackground(files);
    if (!socket || !socket->isOpen()) {
        return socket ? Result<Attempt>(Attempt::NoEngine) : socket.error();
    }
    // An engine that stands still does not hold up this process.
    const Result<std::optional<Frame>> frame = readFrame(socket->get(), waitFor(kPatience));
    if (!frame || !*frame) {
        return Attempt::NoEngine;
    }
    const Result<Hello> hello = helloFrom(**frame);
    if (const Status fits = checkHello(hello, files.socket().string()); !fits) {
        return waitsForOther && hello && !hello->refusal.empty() ? Result<Attempt>(Attempt::Busy) : fits.error();
    }
    m_logBegin = sizeOf(readBackgroundLog());
    setNonBlocking(socket->get());
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
        auto arguments = mapped(words, [](std::string& word) { return word.data(); });
        arguments.push_back(nullptr);
        const std::scoped_lock lock(m_mutex);
        failed = posix_spawn(&m_child, words[0].c_str(), &actions, &attributes, arguments.data(), environ);
        m_child = failed == 0 ? m_child : -1;
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
        return Error{words[0],
                     kWithout + std::string("cannot be started: ") + std::strerror(failed) + ": install it again"};
    }
    setNonBlocking(m_commands);
    setNonBlocking(m_errors);
    const auto copy = [this] { [[maybe_unused]] const auto failure = attemptStandard([this] { copyErrors(); }); };
    if (const auto failure = attemptStandard([&] { m_copying = std::thread(copy); })) {
        kill(); // wait() then waits for its end
        return Error{words[0], kWithout + std::string("cannot be started: ") + failure->text};
    }
    if (isKilled()) {
        kill(); // it was not there yet
    }
    return Done{};
}

/// Copies until the end of the stream. If the child has ended, until there is nothing to read: a process that it has
/// started may hold the stream.
void EngineProcess::copyErrors()
{
    std::string line;
    ShownErrors shown;
    const auto show = [](const std::string& text) {
        [[maybe_unused]] const ssize_t passed = write(STDERR_FILENO, text.data(), text.size());
    };
    std::array<char, 4096> part{};
    while (true) {
        std::array<pollfd, 2> sources{pollfd{m_errors, POLLIN, 0}, pollfd{m_exited.get(), POLLIN, 0}};
        poll(sources.data(), sources.size(), -1);
        const ssize_t got = read(m_errors, part.data(), part.size());
        if (got > 0) {
            const std::string_view bytes(part.data(), static_cast<std::size_t>(got));
            show(shown.add(bytes));
            copyLines(line, bytes);
        } else if (got == 0 || (errno != EAGAIN && errno != EINTR) || sources[1].revents != 0) {
            break;
        }
    }
    show(shown.end());
    copyLines(line, "\n");
}

/// Keeps the lines that end in `part`; `line` has the beginning of the first, and receives that of the next.
void EngineProcess::copyLines(std::string& line, std::string_view part)
{
    const std::scoped_lock lock(m_mutex);
    for (const char c : part) {
        if (c != '\n') {
            line += line.size() < kLongestLine ? std::string(1, c) : std::string();
        } else if (!line.empty()) {
            m_lines.push_back(std::exchange(line, {}));
        }
    }
    while (m_lines.size() > kKeptLines) {
        m_lines.pop_front();
    }
}

FrameWait EngineProcess::waitFor(std::chrono::seconds limit) const
{
    return {.cancel = m_cancel.get(), .until = std::chrono::steady_clock::now() + limit};
}

Status EngineProcess::send(const Frame& frame)
{
    RESIDUA_TRY(checkSize(frame));
    const std::scoped_lock sending(m_sending);
    const Status sent = writeFrame(m_commands, frame, {.cancel = m_cancel.get(), .silence = kSilence});
    if (!sent) {
        const std::scoped_lock lock(m_mutex);
        m_refusedAt = m_refusedAt.value_or(std::chrono::steady_clock::now());
        eventfd_write(m_refused.get(), 1);
    }
    return sent;
}

Result<std::optional<Frame>> EngineProcess::receive()
{
    {
        const std::scoped_lock lock(m_mutex);
        if (m_refusedAt && std::chrono::steady_clock::now() - *m_refusedAt > kOneDirection) {
            return Error{"engine's connection", "takes no messages any more"};
        }
    }
    return readFrame(m_events, {.cancel = m_cancel.get(), .reverse = m_refused.get()});
}

Status EngineProcess::post(const Command& command)
{
    return send(frameOf(command));
}

Result<std::optional<Event>> EngineProcess::next()
{
    std::optional<Frame> frame = RESIDUA_TRY(receive());
    if (!frame) {
        return std::optional<Event>();
    }
    Result<Event> event = eventFrom(*frame);
    return event ? Result<std::optional<Event>>(*std::move(event)) : event.error();
}

void EngineProcess::close()
{
    const std::scoped_lock sending(m_sending);
    if (m_commands >= 0) {
        if (m_isBackground) {
            shutdown(m_commands, SHUT_RDWR); // next() returns, and what was posted still arrives
        }
        ::close(std::exchange(m_commands, -1));
    }
}

void EngineProcess::kill()
{
    std::shared_ptr<EngineProcess> starter;
    {
        const std::scoped_lock lock(m_mutex);
        m_killed = true;
        starter = m_starter;
        if (m_child > 0) {
            killWithChildren(m_child);
        }
    }
    eventfd_write(m_cancel.get(), 1);
    if (starter) {
        starter->kill();
    }
}

bool EngineProcess::isKilled()
{
    const std::scoped_lock lock(m_mutex);
    return m_killed;
}

bool EngineProcess::hasChild()
{
    const std::scoped_lock lock(m_mutex);
    return m_child > 0;
}

std::string EngineProcess::wait(std::chrono::seconds limit)
{
    if (m_isBackground) {
        return "in the background ended" + lastLinesText(lastLinesOfLog(m_logBegin));
    }
    if (!hasChild()) {
        return {}; // not started, or ended
    }
    const bool wasKilled = isKilled();
    std::optional<int> status = awaitExit(limit);
    const bool stays = !status && !isKilled();
    if (!status) {
        kill();
        status = awaitExit(kKilledPatience);
    }
    eventfd_write(m_exited.get(), 1);
    if (m_copying.joinable()) {
        m_copying.join();
    }
    if (stays) {
        return "did not end and was killed" + lastLinesText(m_lines);
    }
    if (wasKilled || isKilled() || !status) {
        return "was given up" + lastLinesText(m_lines);
    }
    if (WIFEXITED(*status) && WEXITSTATUS(*status) == 0) {
        return {};
    }
    const int signal = WIFSIGNALED(*status) ? WTERMSIG(*status) : 0;
    std::string end = signal == 0 ? "ended with code " + std::to_string(WEXITSTATUS(*status))
                                  : "was ended by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
    if (signal == SIGKILL) {
        end += ", as the system does where memory runs out";
    }
    return end + lastLinesText(m_lines);
}

std::optional<int> EngineProcess::awaitExit(std::chrono::seconds limit)
{
    const FileDescriptor process(static_cast<int>(syscall(SYS_pidfd_open, m_child, 0)));
    if (process.isOpen()) {
        const int cancel = isKilled() ? -1 : m_cancel.get();
        const auto until = std::chrono::steady_clock::now() + limit;
        if (const Status ended = awaitBytes(process.get(), {.cancel = cancel, .until = until}); !ended) {
            return std::nullopt;
        }
    }
    const std::scoped_lock lock(m_mutex); // a kill() must not name another process
    int status = 0;
    while (waitpid(m_child, &status, 0) < 0 && errno == EINTR) {
    }
    m_child = -1;
    return status;
}

} // namespace residua::engine
