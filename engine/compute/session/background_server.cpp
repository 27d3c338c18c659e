// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/session/background_server.h"

#include "engine/base/api/run_progress.h"
#include "engine/base/machine/failure.h"
#include "engine/runs/store/run_files.h"
#include "projects/base/whole_file.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <type_traits>
#include <utility>
#include <variant>

namespace residua::engine {
namespace {

/// The age of progress that every store has: a recorder writes at least every 30 s.
constexpr std::chrono::seconds kOldestProgress{60};
constexpr int kQueuedPrograms = 8;
constexpr int kNextTry = 1000;        ///< milliseconds, to make the socket anew
constexpr unsigned kProgramBits = 32; ///< the number of the program is above them
constexpr std::uint64_t kOwnNumber = (std::uint64_t{1} << kProgramBits) - 1;

template <class Id>
std::uint64_t programOf(Id id)
{
    return static_cast<std::uint64_t>(id) >> kProgramBits;
}

/// Returns the program's own number.
template <class Id>
Id withoutProgram(Id id)
{
    return static_cast<Id>(static_cast<std::uint64_t>(id) & kOwnNumber);
}

template <class Id>
Id withProgram(Id id, std::uint64_t program)
{
    return static_cast<Id>(static_cast<std::uint64_t>(id) | program << kProgramBits);
}

FileDescriptor terminationSignal()
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, nullptr); // before other threads exist, which inherit the mask
    return FileDescriptor(signalfd(-1, &set, SFD_CLOEXEC));
}

bool isClosed(int connection)
{
    pollfd state{connection, POLLRDHUP, 0};
    return poll(&state, 1, 0) > 0;
}

} // namespace

BackgroundServer::BackgroundServer(BackgroundFiles files, FileDescriptor lock, FileDescriptor listener,
                                   std::chrono::seconds idle)
    : m_files(std::move(files)),
      m_lock(std::move(lock)),
      m_listener(std::move(listener)),
      m_signals(terminationSignal()),
      m_runEnded(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      m_idle(idle),
      m_busyUntil(Clock::now())
{
    unlink(m_files.run().c_str());             // of an engine that was killed
    listen(m_listener.get(), kQueuedPrograms); // again, because the socket's credentials are those of the last caller
    watchFiles();
}

BackgroundServer::~BackgroundServer()
{
    if (isReachable()) {
        unlink(m_files.socket().c_str()); // before the run stops, so that no program waits for this process
    }
    m_listener.close();
    if (m_client) {
        disconnect();
    }
    m_session.reset();
    forgetRun();
}

void BackgroundServer::serve()
{
    while (true) {
        const int client = m_client ? m_client->socket.get() : -1;
        // The listener comes first: a program that has ended before another one connects is then seen as closed.
        std::array<pollfd, 5> sources{pollfd{m_listener.get(), POLLIN, 0}, pollfd{m_signals.get(), POLLIN, 0},
                                      pollfd{m_runEnded.get(), POLLIN, 0}, pollfd{client, POLLRDHUP, 0},
                                      pollfd{m_changes.get(), POLLIN, 0}};
        const int left = millisecondsLeft();
        const int ready = poll(sources.data(), sources.size(),
                               m_listener.isOpen() ? left
                               : left < 0          ? kNextTry
                                                   : std::min(left, kNextTry));
        if (sources[1].revents != 0 || (ready == 0 && millisecondsLeft() == 0)) {
            return;
        }
        if (sources[2].revents != 0) {
            eventfd_t count = 0;
            eventfd_read(m_runEnded.get(), &count);
            m_busyUntil = Clock::now();
        }
        if (sources[4].revents != 0 || !m_listener.isOpen()) {
            listenAgain();
        }
        if (m_client && sources[3].revents != 0) {
            disconnect();
        }
        if (sources[0].revents != 0) {
            if (const auto failure = attemptStandard([this] { accept(); })) {
                dprintf(STDERR_FILENO, "residua-engine: %s\n", failure->text.c_str());
                const std::scoped_lock lock(m_mutex);
                if (m_client && !m_client->reading.joinable()) {
                    m_client.reset();
                }
            }
        }
    }
}

/// True if the socket's file is that of the listener.
bool BackgroundServer::isReachable()
{
    struct stat found {};
    return m_listener.isOpen() && lstat(m_files.socket().c_str(), &found) == 0 && S_ISSOCK(found.st_mode) &&
           found.st_nlink > 0 && // as in isLockOf()
           isLockOf(m_files, m_lock);
}

/// Makes the folder, the lock and the socket anew if they are gone: a cleaner of temporary files may remove them, and
/// the end of a login the folder of its user. Tries again later if that fails.
void BackgroundServer::listenAgain()
{
    if (isReachable()) {
        watchFiles();
        return;
    }
    m_listener.close();
    m_changes.close(); // otherwise its unread events wake serve() until the next success
    const Result<BackgroundFiles> files = backgroundFiles();
    if (!files) {
        return;
    }
    if (!isLockOf(*files, m_lock)) {
        Result<FileDescriptor> lock = lockBackground(*files);
        if (!lock || !lock->isOpen()) {
            return; // another engine has the folder
        }
        {
            const std::scoped_lock guard(m_mutex);
            m_lock = *std::move(lock);
        }
        noteBackgroundOwner(m_lock);
    }
    Result<FileDescriptor> listener = listenInBackground(*files);
    if (!listener) {
        return;
    }
    m_listener = *std::move(listener);
    dprintf(STDERR_FILENO, "residua-engine: %s was removed and is made anew\n", m_files.socket().c_str());
    watchFiles();
    const std::scoped_lock lock(m_mutex);
    if (m_begun) {
        noteRun(*m_begun);
    }
}

/// Wakes serve() when the socket, the lock or their folder is removed.
void BackgroundServer::watchFiles()
{
    m_changes = FileDescriptor(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    for (const auto& path : {m_files.folder, m_files.socket(), m_files.lock()}) {
        inotify_add_watch(m_changes.get(), path.c_str(), IN_DELETE_SELF | IN_MOVE_SELF | IN_ATTRIB);
    }
}

/// Called with the lock.
void BackgroundServer::noteRun(const RunStarted& started)
{
    if (isLockOf(m_files, m_lock)) { // otherwise the folder is another engine's
        [[maybe_unused]] const Status written = writeFileAtomically(m_files.run(), started.runDirectory.string());
    }
}

void BackgroundServer::forgetRun()
{
    if (isLockOf(m_files, m_lock)) {
        unlink(m_files.run().c_str());
    }
}

/// Returns the time until it has been idle for long enough; -1 while it is not idle.
int BackgroundServer::millisecondsLeft()
{
    const std::scoped_lock lock(m_mutex);
    if (m_client || m_runs > 0) {
        return -1;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(m_busyUntil + m_idle - Clock::now()).count();
    return static_cast<int>(std::max<std::int64_t>(left, 0));
}

void BackgroundServer::accept()
{
    FileDescriptor socket(accept4(m_listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket.isOpen() || !isOwnPeer(socket.get())) {
        return;
    }
    if (m_client && isClosed(m_client->socket.get())) {
        disconnect();
    }
    Hello hello{buildIdentity(), 0, {}, {}};
    if (m_client) {
        hello.refusal = "another window or terminal uses the background engine: close it, or train in another place";
    }
    const Status greeted = writeFrame(socket.get(), frameOf(hello)); // fits in the socket's buffer
    if (m_client || !greeted) {
        return;
    }
    const std::scoped_lock lock(m_mutex);
    m_client = std::make_unique<Client>();
    m_client->socket = std::move(socket);
    m_client->reading = std::thread([this, &client = *m_client] { read(client); });
}

/// Drops the program after its last commands have been read.
void BackgroundServer::disconnect()
{
    shutdown(m_client->socket.get(), SHUT_RDWR); // wakes a blocked read or write; received data can still be read
    m_client->reading.join();
    std::unique_ptr<Client> gone;
    {
        const std::scoped_lock lock(m_mutex);
        gone = std::move(m_client);
    }
    gone.reset(); // without the lock, because its writer is waited for
    giveUpQueries();
    m_busyUntil = Clock::now();
}

void BackgroundServer::read(Client& client)
{
    Status read = Done{};
    if (const auto failure = attemptStandard([&] { read = readAll(client); })) {
        read = Error{"engine's connection", failure->text};
    }
    if (!read) {
        dprintf(STDERR_FILENO, "residua-engine: %s\n", read.error().text().c_str());
    }
    shutdown(client.socket.get(), SHUT_RDWR);
}

/// Takes the commands of a program until it ends.
Status BackgroundServer::readAll(Client& client)
{
    RESIDUA_TRY(welcome(client));
    while (true) {
        Result<std::optional<Frame>> frame = readFrame(client.socket.get());
        if (!frame || !*frame) {
            return frame ? Status(Done{}) : Status(frame.error());
        }
        Result<Command> command = commandFrom(**frame);
        if (!command || !post(*std::move(command))) {
            return command ? Error{"engine's connection", "numbers a run or a query beyond 32 bits"} : command.error();
        }
    }
}

Status BackgroundServer::welcome(Client& client)
{
    const Result<std::optional<Frame>> frame = readFrame(client.socket.get());
    if (!frame || !*frame) {
        return frame ? Status(Error{"engine's connection", "ended before its first message"}) : frame.error();
    }
    const Result<Hello> hello = helloFrom(**frame);
    if (!hello || hello->build != buildIdentity()) {
        return hello ? Error{"engine's connection",
                             "got a program of the build " + hello->build + ", expected " + buildIdentity()}
                     : hello.error();
    }
    startSession(hello->threads);
    const std::scoped_lock lock(m_mutex);
    ++m_program;
    client.writer.emplace(client.socket.get());
    showFoundRun(*client.writer);
    return Done{};
}

/// Starts a session with that number of threads, unless one has it or is busy.
void BackgroundServer::startSession(int threads)
{
    {
        const std::scoped_lock lock(m_mutex);
        if (m_session && (m_runs > 0 || m_threads == threads)) {
            return;
        }
    }
    m_session.reset();
    m_threads = threads;
    m_session = std::make_unique<Session>([this](Event event) { receive(std::move(event)); }, threads);
}

void BackgroundServer::showFoundRun(EventWriter& writer)
{
    if (!m_begun) {
        return;
    }
    RunStarted started = *m_begun;
    started.run = kFoundRun;
    writer.take(std::move(started));
    for (const Recent& recent : m_recent) {
        writer.take(recent.progress);
    }
    if (m_paused) {
        RunPaused paused = *m_paused;
        paused.run = kFoundRun;
        writer.take(std::move(paused));
    }
}

/// Hands a command to the session. Returns false if its number is too large.
bool BackgroundServer::post(Command command)
{
    {
        const std::scoped_lock lock(m_mutex);
        const bool fits = std::visit(
            [this]<class Asked>(Asked& asked) {
                if constexpr (requires { asked.run; }) {
                    if (programOf(asked.run) != 0) {
                        return false;
                    }
                    const bool found = !kBeginsRun<Asked> && asked.run == kFoundRun && m_begun;
                    asked.run = found ? m_begun->run : withProgram(asked.run, m_program);
                    m_runs += kBeginsRun<Asked> ? 1 : 0;
                } else {
                    if (programOf(asked.tag) != 0) {
                        return false;
                    }
                    asked.tag = withProgram(asked.tag, m_program);
                    if constexpr (!std::is_same_v<Asked, GiveUp>) {
                        m_asked.insert(asked.tag);
                    }
                }
                return true;
            },
            command);
        if (!fits) {
            return false;
        }
    }
    m_session->post(std::move(command));
    return true;
}

void BackgroundServer::giveUpQueries()
{
    std::set<QueryTag> asked;
    {
        const std::scoped_lock lock(m_mutex);
        asked.swap(m_asked);
    }
    for (const QueryTag tag : asked) {
        m_session->post(GiveUp{tag});
    }
}

/// Receives an event on the session's thread.
void BackgroundServer::receive(Event event)
{
    const std::scoped_lock lock(m_mutex);
    const bool reaches = m_client && m_client->writer && isForProgram(event);
    note(event);
    if (reaches) {
        std::visit(
            [this](auto& told) {
                if constexpr (requires { told.run; }) {
                    told.run = programOf(told.run) == m_program ? withoutProgram(told.run) : kFoundRun;
                } else {
                    told.tag = withoutProgram(told.tag);
                }
            },
            event);
        m_client->writer->take(std::move(event));
    }
}

/// True if the event is of a run or query of the connected program, or of the run that it found.
bool BackgroundServer::isForProgram(const Event& event) const
{
    return std::visit(
        [this]<class Told>(const Told& told) {
            if constexpr (requires { told.run; }) {
                return programOf(told.run) == m_program || std::is_same_v<Told, RunStarted> ||
                       (m_begun && m_begun->run == told.run);
            } else {
                return programOf(told.tag) == m_program;
            }
        },
        event);
}

/// Keeps what the next program is told, and what is not answered yet.
void BackgroundServer::note(const Event& event)
{
    if (const auto* const started = std::get_if<RunStarted>(&event)) {
        m_begun = *started;
        const Result<RunFile> file = readRunFile(started->runDirectory);
        m_identity = file ? file->identity : std::string();
        noteRun(*started);
    } else if (const auto* const progress = std::get_if<Progress>(&event); progress != nullptr && m_begun) {
        keepRecent(*progress);
    } else if (const auto* const paused = std::get_if<RunPaused>(&event)) {
        m_paused = *paused;
    } else if (std::holds_alternative<RunContinued>(event)) {
        m_paused.reset();
    } else if (const auto* const ended = std::get_if<RunEnded>(&event)) {
        noteEnd(*ended);
    } else if (const std::optional<QueryTag> answered = answeredBy(event)) {
        m_asked.erase(*answered);
    }
}

void BackgroundServer::noteEnd(const RunEnded& ended)
{
    --m_runs;
    if (m_begun && m_begun->run == ended.run) {
        if (ended.hasFailed()) {
            const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
            logFailure(STDERR_FILENO, {now.count(), m_begun->runDirectory, m_identity, ended.step, ended.error.text()});
        }
        m_begun.reset();
        m_paused.reset();
        m_recent.clear();
        m_recentBytes = 0;
        forgetRun();
    }
    eventfd_write(m_runEnded.get(), 1);
}

void BackgroundServer::keepRecent(const Progress& progress)
{
    const Clock::time_point now = Clock::now();
    m_begun->firstStep = progress.steps.empty() ? m_begun->firstStep : progress.steps.back().step;
    m_recent.push_back({now, progress});
    m_recent.back().progress.run = kFoundRun;
    m_recentBytes += bytesOf(progress);
    while (!m_recent.empty() && (m_recentBytes > kMostWaitingBytes || now - m_recent.front().time > kOldestProgress)) {
        m_recentBytes -= bytesOf(m_recent.front().progress);
        m_recent.pop_front();
    }
}

} // namespace residua::engine
