// SPDX-License-Identifier: GPL-3.0-or-later
// engine/base/api/session.h for programs whose engine is a process of its own. Programs linked with the engine use
// engine/compute/session/session.cpp.
#include "engine/base/api/environment.h"
#include "engine/base/api/session.h"
#include "engine/base/machine/failure.h"
#include "engine/link/process/engine_process.h"
#include "engine/link/process/file_link.h"
#include "engine/link/process/preparations.h"
#include "engine/link/remote/remote_engine.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

namespace residua::engine {
namespace {

using Clock = std::chrono::steady_clock;

/// The longest time without an event for which a session waits at its end: for queries, and for the last step and the
/// checkpoint of a run on another machine, which completes both if the connection is cut.
constexpr std::chrono::seconds kEndPatience{10};
constexpr std::chrono::seconds kLastStepPatience{120};

} // namespace

/// Starts the process with the first command, so that constructing a session does not block. One thread posts commands,
/// and a second one receives events; a command that exchanges files with a place is prepared on a third one, so that it
/// holds up no other. If the process ends by itself, everything that it was asked is answered, and the next command
/// starts another.
class Session::Impl : private PreparationOwner {
public:
    Impl(EventSink sink, int threads, EngineRemote place)
        : m_sink(std::move(sink)),
          m_threads(threads),
          m_place(std::move(place)),
          m_at(m_place),
          m_fetcher(m_sink),
          m_preparations(*this)
    {
        prepareEnvironment(); // here, because setting a variable beside the GUI's thread is unsafe
        m_posting = std::thread([this] { postAll(); });
    }

    /// Ends at once a process that has not answered yet, and later one that does not answer any more.
    ~Impl() override
    {
        m_fetcher.giveUpAll();
        std::unique_lock lock(m_mutex);
        m_quit = true;
        m_lastEvent = Clock::now();
        if (m_starts && !runMayOutlive(m_at)) {
            m_process->kill();
        }
        m_preparations.cancel();
        m_wake.notify_all();
        while (!m_ended.wait_for(lock, std::chrono::seconds(1), [this] { return m_hasEnded; })) {
            if (isOverdue() && m_process) {
                m_process->kill();
                m_preparations.cancel();
            }
        }
        lock.unlock();
        m_posting.join();
    }

    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    /// Answers on the caller's thread if it gives up a command that has not been sent.
    void post(Command command)
    {
        if (const auto* const giveUp = std::get_if<GiveUp>(&command)) {
            m_fetcher.giveUp(giveUp->tag);
        }
        std::optional<Command> unsent;
        {
            const std::scoped_lock lock(m_mutex);
            m_preparations.giveUp(command);
            const auto isGivenUp = [&](const Command& other) { return givesUp(command, other); };
            const auto waiting = std::ranges::find_if(m_waiting, isGivenUp);
            if (waiting != m_waiting.end()) {
                unsent = std::move(*waiting);
                m_waiting.erase(waiting);
            } else {
                if (m_starts && m_sent && isGivenUp(*m_sent)) {
                    m_process->kill();
                }
                m_waiting.push_back(std::move(command));
            }
        }
        if (unsent) {
            answerGivenUp(*unsent);
        }
        m_wake.notify_all();
    }

private:
    void postAll()
    {
        sigset_t pipe; // a write to a process that has ended is an error here, not a signal
        sigemptyset(&pipe);
        sigaddset(&pipe, SIGPIPE);
        pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
        while (const std::optional<Command> command = nextCommand()) {
            if (const auto failure = attemptStandard([&] { send(*command); })) {
                refuse(*command, Error{"engine's connection", failure->text}, false);
            }
        }
        end();
        const std::scoped_lock lock(m_mutex);
        m_hasEnded = true;
        m_ended.notify_all();
    }

    /// Waits for the next command. Returns nullopt at the end. Later commands may still cancel it.
    std::optional<Command> nextCommand()
    {
        std::unique_lock lock(m_mutex);
        m_sent.reset();
        m_wake.wait(lock, [this] { return m_quit || !m_waiting.empty(); });
        const bool goesOn = m_runs || runMayOutlive(m_place);
        if (m_waiting.empty() || (m_quit && !goesOn)) {
            return std::nullopt;
        }
        m_sent = std::move(m_waiting.front());
        m_waiting.pop_front();
        return m_sent;
    }

    /// True if a run was asked for that has not been sent. Called with the lock.
    [[nodiscard]] bool runWaits() const
    {
        return (m_sent && beginsRun(*m_sent)) || std::ranges::any_of(m_waiting, beginsRun);
    }

    /// True if such a run may be meant to begin in the background without this program. Called with the lock.
    [[nodiscard]] bool runMayOutlive(const EngineRemote& place) const
    {
        return place.kind == EngineRemote::Kind::Background && runWaits();
    }

    /// Ends the process, if there is one. One at another place that has no run is not waited for long.
    void end()
    {
        m_preparations.join();
        if (!m_process) {
            return;
        }
        m_process->close();
        {
            std::unique_lock lock(m_mutex);
            const bool isFar = m_at.kind == EngineRemote::Kind::CommandLine && m_active.empty();
            if (isFar && !m_ended.wait_for(lock, kEndPatience, [this] { return !m_runs; })) {
                m_process->kill();
            }
        }
        if (m_receiving.joinable()) {
            m_receiving.join();
        }
        dropProcess();
    }

    void dropProcess()
    {
        std::shared_ptr<EngineProcess> ended; // destroyed without the lock
        const std::scoped_lock lock(m_mutex);
        ended.swap(m_process);
    }

    /// True if the process has been silent for too long since the session's end, or since its start. Called with the
    /// lock.
    [[nodiscard]] bool isOverdue() const
    {
        const auto silent = Clock::now() - m_lastEvent;
        const bool isChild = m_at.kind == EngineRemote::Kind::Child;
        const bool trains = !m_active.empty() && m_at.kind != EngineRemote::Kind::Background;
        const bool begins = m_starts && runWaits();
        return silent > (isChild || trains || begins ? kLastStepPatience : kEndPatience) && !(isChild && trains);
    }

    void send(const Command& command)
    {
        if (const auto* const fetch = std::get_if<FetchCheckpoint>(&command);
            fetch != nullptr && remoteRunAt(fetch->runDirectory)) {
            const Result<std::optional<EngineRemote>> place = placeFor(command, m_place);
            if (place) {
                m_fetcher.fetch(*fetch, **place);
            } else {
                refuse(command, place.error(), false);
            }
            return;
        }
        if (const auto* const giveUp = std::get_if<GiveUp>(&command)) {
            m_fetcher.giveUp(giveUp->tag); // again, because the fetch may have begun since
        }
        if (m_preparations.takes(command) || (controls(command) && !runs())) {
            return;
        }
        if (isGivenUp(command)) {
            refuse(command, {}, false);
            return;
        }
        if (const Status moved = moveTo(placeFor(command, m_place)); !moved) {
            refuse(command, moved.error(), false);
            return;
        }
        Result<std::optional<Command>> there = std::optional(command);
        while (true) {
            if (const Status started = start(command); !started) {
                refuse(command, started.error(), true);
                return;
            }
            const bool exchanges = m_remote && exchangesFiles(command);
            if (m_remote && !exchanges) {
                there = m_remote->toRemote(command, {});
            }
            if (!there) {
                refuse(command, there.error(), false);
                return;
            }
            if (!owesAnswer(command)) {
                continue; // the process has ended since
            }
            const auto failure = attemptStandard(
                [&] { exchanges ? m_preparations.start(command, m_at) : postTranslated(command, **there); });
            if (failure && settle(command)) { // otherwise the end of the process has answered
                refuse(command, Error{"engine's connection", failure->text}, false);
            }
            return;
        }
    }

    // ---- for preparations

    Result<std::optional<Command>> translate(const Command& command, const RemoteLink& link) override
    {
        return m_remote->toRemote(command, link);
    }

    /// A process that has ended, or is ending, does not take a command; the receiving thread answers.
    void postTranslated(const Command& command, const Command& there) override
    {
        const Frame frame = frameOf(there);
        if (const Status fits = checkSize(frame); !fits) {
            if (settle(command)) {
                refuse(command, fits.error());
            }
            return;
        }
        [[maybe_unused]] const Status posted = m_process->send(frame);
    }

    bool settle(const Command& command) override
    {
        if (m_remote) {
            m_remote->forget(command);
        }
        const std::scoped_lock lock(m_mutex);
        return std::visit(
            [&]<class Asked>(const Asked& asked) {
                if constexpr (kBeginsRun<Asked>) {
                    return m_active.erase(asked.run) > 0;
                } else if constexpr (kIsQuery<Asked>) {
                    return m_asked.erase(asked.tag) > 0;
                } else {
                    return false;
                }
            },
            command);
    }

    void refuse(const Command& command, const Error& why) override { refuse(command, why, false); }

    void answerGivenUp(const Command& command) override
    {
        std::visit(
            [this]<class Asked>(const Asked& asked) {
                if constexpr (kBeginsRun<Asked>) {
                    m_sink(RunEnded{asked.run, RunStatus::Stopped, 0, {}});
                } else {
                    answer(asked, queryGivenUp(), false);
                }
            },
            command);
    }

    /// Sends the user a note about a running command.
    void notice(const Command& command, const std::string& text) override
    {
        std::visit(
            [&]<class Asked>(const Asked& asked) {
                if constexpr (kBeginsRun<Asked>) {
                    m_sink(Notice{asked.run, text});
                } else if constexpr (kIsQuery<Asked>) {
                    m_sink(QueryProgress{.tag = asked.tag, .text = text});
                }
            },
            command);
    }

    void take(Event event) override { m_sink(std::move(event)); }

    // ---- the process

    /// Makes the next start() start the engine at `place`, unless that is nullopt.
    Status moveTo(const Result<std::optional<EngineRemote>>& place)
    {
        if (!place || !*place || **place == m_at) {
            return place ? Status(Done{}) : place.error();
        }
        {
            const std::scoped_lock lock(m_mutex);
            if (!m_active.empty() || !m_asked.empty()) {
                return Error{"engine", "works at another place: wait until it has finished there, or stop it"};
            }
        }
        end();
        const std::scoped_lock lock(m_mutex);
        m_at = **place;
        return Done{};
    }

    /// True if a later command stops or gives up this one.
    bool isGivenUp(const Command& command)
    {
        const std::scoped_lock lock(m_mutex);
        return givenUpLater(command);
    }

    /// Returns isGivenUp(command). The caller holds the lock.
    [[nodiscard]] bool givenUpLater(const Command& command) const
    {
        return std::ranges::any_of(m_waiting, [&](const Command& later) { return givesUp(later, command); });
    }

    bool runs()
    {
        const std::scoped_lock lock(m_mutex);
        return m_runs;
    }

    void refuse(const Command& command, const Error& why, bool noEngine)
    {
        if (isGivenUp(command)) {
            answerGivenUp(command);
            return;
        }
        if (std::optional<RemoteUnknown> unknown = unknownRemoteOf(command, m_place)) {
            m_sink(*std::move(unknown));
        }
        std::visit([&](const auto& asked) { answer(asked, why, noEngine); }, command);
    }

    /// Keeps what the process now owes an answer. Returns false if it has ended.
    bool owesAnswer(const Command& command)
    {
        const std::scoped_lock lock(m_mutex);
        if (m_runs) {
            std::visit(
                [&]<class Asked>(const Asked& asked) {
                    if constexpr (kBeginsRun<Asked>) {
                        m_active[asked.run] = 0;
                    } else if constexpr (kIsQuery<Asked>) {
                        m_asked.insert(asked.tag);
                    }
                },
                command);
        }
        return m_runs;
    }

    /// Starts the process for `command` unless it runs.
    Status start(const Command& command)
    {
        if (runs()) {
            return Done{};
        }
        if (m_receiving.joinable()) {
            m_receiving.join();
        }
        m_preparations.join();
        m_remote.reset();
        dropProcess();
        const auto process = std::make_shared<EngineProcess>();
        {
            const std::scoped_lock lock(m_mutex);
            m_process = process;
            m_starts = true;
            const bool isLeft = m_quit && !runMayOutlive(m_at);
            if (isLeft || givenUpLater(command)) {
                process->kill();
            }
        }
        Status started = Done{};
        if (const auto failure = attemptStandard([&] { started = startProcess(command); })) {
            started = Error{"engine's connection", failure->text};
        }
        if (!started) {
            {
                const std::scoped_lock lock(m_mutex);
                m_starts = false;
            }
            process->kill();
            dropProcess();
        }
        return started;
    }

    Status startProcess(const Command& command)
    {
        RESIDUA_TRY(m_process->start(m_threads, m_at, Serves::Session,
                                     [&](const std::string& text) { notice(command, text); }));
        if (!m_at.folder.empty()) {
            m_remote.emplace(m_at, m_sink, [this](Command later) { post(std::move(later)); });
        }
        const std::scoped_lock lock(m_mutex);
        m_receiving = std::thread([this] { receive(); }); // which may fail, and leaves the members as they are
        m_starts = false;
        m_runs = true;
        m_lastEvent = Clock::now();
        return Done{};
    }

    void receive()
    {
        std::string end;
        if (const auto failure = attemptStandard([&] { end = receiveAll(); })) {
            m_process->kill();
            end = "sent what cannot be taken: " + failure->text;
        }
        std::map<RunId, std::int64_t> active;
        std::set<QueryTag> asked;
        {
            const std::scoped_lock lock(m_mutex);
            m_runs = false;
            m_ended.notify_all();
            active.swap(m_active);
            asked.swap(m_asked);
            m_preparations.cancel();
            if (m_quit && m_at.kind == EngineRemote::Kind::Background) {
                active.clear(); // their runs continue
            }
        }
        const Error why{"residua-engine", "the engine's process " + (end.empty() ? "ended" : end)};
        for (const auto& [run, step] : active) {
            RunEnded ended{run,
                           RunStatus::Interrupted,
                           step,
                           {why.place, why.message + ". The run keeps its records and checkpoints: resume it"}};
            if (!m_remote || !m_remote->fromRemote(ended)) { // its files are still being sent
                m_sink(std::move(ended));
            }
        }
        for (const QueryTag tag : asked) {
            m_sink(QueryFailed{tag, why});
        }
    }

    /// Receives events until the end of the process, and describes the end.
    std::string receiveAll()
    {
        Result<std::optional<Event>> event = m_process->next();
        while (event && *event) {
            note(**event);
            if (!std::holds_alternative<RemoteUnknown>(**event)) { // this side alone knows the list of places
                hand(*std::move(*event));
            }
            event = m_process->next();
        }
        if (event) {
            return m_process->wait();
        }
        m_process->kill();
        return "was ended: " + event.error().text();
    }

    void hand(Event event)
    {
        if (m_remote) {
            m_remote->fromRemote(std::move(event));
        } else {
            m_sink(std::move(event));
        }
    }

    /// Keeps what the process still owes an answer.
    void note(const Event& event)
    {
        const std::scoped_lock lock(m_mutex);
        m_lastEvent = Clock::now();
        if (m_remote && !m_remote->takes(event)) {
            return; // such as the end of a run that it was not given yet
        }
        std::visit(
            [&]<class Told>(const Told& told) {
                if constexpr (std::is_same_v<Told, RunEnded>) {
                    m_active.erase(told.run);
                } else if constexpr (std::is_same_v<Told, RunStarted>) {
                    m_active[told.run] = told.firstStep; // one that was found is not known before
                } else if constexpr (std::is_same_v<Told, Progress>) {
                    const auto active = m_active.find(told.run);
                    if (active != m_active.end() && !told.steps.empty()) {
                        active->second = told.steps.back().step;
                    }
                } else if constexpr (requires { told.tag; } && !kIsProgress<Told>) {
                    m_asked.erase(told.tag);
                }
            },
            event);
    }

    template <class Asked>
    void answer(const Asked& asked, const Error& why, bool noEngine)
    {
        if constexpr (kBeginsRun<Asked>) {
            m_sink(RunEnded{asked.run, RunStatus::Failed, 0, why, noEngine});
        } else if constexpr (kIsQuery<Asked>) {
            m_sink(QueryFailed{asked.tag, why});
        }
    }

    EventSink m_sink;
    int m_threads = 0;
    EngineRemote m_place;
    EngineRemote m_at; ///< where the process is, or the next one starts; changed by the posting thread alone
    CheckpointFetcher m_fetcher;
    Preparations m_preparations;
    std::mutex m_mutex; ///< protects the members up to m_active, and changes of m_at and m_process
    std::condition_variable m_wake;
    std::condition_variable m_ended; ///< of the process, or of the posting thread
    std::deque<Command> m_waiting;
    std::optional<Command> m_sent; ///< the command that the posting thread works on
    Clock::time_point m_lastEvent; ///< or the session's end, or the start of the process
    bool m_quit = false;
    bool m_hasEnded = false;                  ///< the posting thread needs no other member any more
    bool m_starts = false;                    ///< m_process waits for its greeting
    bool m_runs = false;                      ///< the process can take commands
    std::set<QueryTag> m_asked;               ///< not yet answered
    std::map<RunId, std::int64_t> m_active;   ///< the last step of runs that have not ended
    std::shared_ptr<EngineProcess> m_process; ///< used by all threads; made and dropped by the posting one
    std::optional<RemoteEngine> m_remote;     ///< the same, if the place has a folder of its own
    std::thread m_receiving;
    std::thread m_posting; ///< last, because the thread uses the other members
};

Session::Session(EventSink sink, int threads, EngineRemote place)
    : m_impl(std::make_unique<Impl>(std::move(sink), threads, std::move(place)))
{
}

Session::~Session() = default;

void Session::post(Command command)
{
    m_impl->post(std::move(command));
}

} // namespace residua::engine
