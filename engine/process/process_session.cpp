// SPDX-License-Identifier: GPL-3.0-or-later
// engine/api/session.h for programs whose engine is a process of its own. Programs linked with the engine use
// engine/session/session.cpp.
#include "engine/api/environment.h"
#include "engine/api/session.h"
#include "engine/place/remote_place.h"
#include "engine/process/engine_process.h"
#include "engine/process/file_link.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <map>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

namespace residua::engine {
namespace {

constexpr std::chrono::seconds kSendingNotices{1};

} // namespace

/// Starts the process with the first command, so that constructing a session does not block. One thread posts commands,
/// and a second one receives events. If the process ends by itself, everything that it was asked is answered, and the
/// next command starts another.
class Session::Impl {
public:
    Impl(EventSink sink, int threads, EnginePlace place)
        : m_sink(std::move(sink)), m_threads(threads), m_place(std::move(place)), m_at(m_place), m_fetcher(m_sink)
    {
        prepareEnvironment(); // here, because setting a variable beside the GUI's thread is unsafe
        m_posting = std::thread([this] { postAll(); });
    }

    ~Impl()
    {
        {
            const std::scoped_lock lock(m_mutex);
            m_quit = true;
        }
        m_wake.notify_one();
        m_posting.join();
    }

    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    void post(Command command)
    {
        {
            const std::scoped_lock lock(m_mutex);
            m_waiting.push_back(std::move(command));
        }
        m_wake.notify_one();
    }

private:
    void postAll()
    {
        sigset_t pipe; // a write to a process that has ended is an error here, not a signal
        sigemptyset(&pipe);
        sigaddset(&pipe, SIGPIPE);
        pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
        std::unique_lock lock(m_mutex);
        while (true) {
            m_wake.wait(lock, [this] { return m_quit || !m_waiting.empty(); });
            if (m_quit && (m_waiting.empty() || !m_runs)) {
                break;
            }
            const std::vector<Command> commands = std::exchange(m_waiting, {});
            lock.unlock();
            for (const Command& command : commands) {
                send(command);
            }
            lock.lock();
        }
        lock.unlock();
        end();
    }

    /// Ends the process, if there is one.
    void end()
    {
        if (m_process) {
            m_process->close();
            m_receiving.join();
            m_process.reset();
        }
    }

    void send(const Command& command)
    {
        if (const auto* const fetch = std::get_if<FetchCheckpoint>(&command);
            fetch != nullptr && remoteRunAt(fetch->runDirectory)) {
            m_fetcher.fetch(*fetch);
            return;
        }
        if (const auto* const giveUp = std::get_if<GiveUp>(&command)) {
            m_fetcher.giveUp(giveUp->tag);
        }
        if (const Status moved = moveTo(placeFor(command, m_place)); !moved) {
            refuse(command, moved.error(), false);
            return;
        }
        Result<std::optional<Command>> there = std::optional(command);
        do {
            if (const Status started = start(); !started) {
                refuse(command, started.error(), true);
                return;
            }
            if (m_remote) {
                there = m_remote->toPlace(command, watchFor(command));
            }
            if (!there) {
                refuse(command, there.error(), false);
                return;
            }
            if (!*there) {
                return; // it is answered
            }
        } while (!owesAnswer(command));
        // A process that has ended does not take it; the receiving thread answers.
        [[maybe_unused]] const Status posted = m_process->post(**there);
    }

    /// Makes the next start() start the engine at `place`, unless that is nullopt.
    Status moveTo(const Result<std::optional<EnginePlace>>& place)
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
        m_at = **place;
        return Done{};
    }

    /// Returns the watch of the files that a command sends. It cancels if the command is no longer wanted.
    PreparationWatch watchFor(const Command& command)
    {
        std::optional<RunId> run;
        std::visit(
            [&]<class Asked>(const Asked& asked) {
                if constexpr (kBeginsRun<Asked>) {
                    run = asked.run;
                }
            },
            command);
        return [this, run, told = std::chrono::steady_clock::now()](double share) mutable {
            if (const auto now = std::chrono::steady_clock::now(); run && now - told >= kSendingNotices) {
                told = now;
                m_sink(Notice{*run, "sending the files: " + std::to_string(static_cast<int>(100 * share)) + " %"});
            }
            return !isStopped(run);
        };
    }

    bool isStopped(std::optional<RunId> run)
    {
        const std::scoped_lock lock(m_mutex);
        return m_quit || std::ranges::any_of(m_waiting, [&](const Command& command) {
                   const auto* const stop = std::get_if<Stop>(&command);
                   return stop != nullptr && stop->run == run;
               });
    }

    void refuse(const Command& command, const Error& why, bool noEngine)
    {
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
                    } else if constexpr (requires { asked.tag; } && !std::is_same_v<Asked, GiveUp>) {
                        m_asked.insert(asked.tag);
                    }
                },
                command);
        }
        return m_runs;
    }

    Status start()
    {
        {
            const std::scoped_lock lock(m_mutex);
            if (m_runs) {
                return Done{};
            }
        }
        if (m_receiving.joinable()) {
            m_receiving.join();
        }
        m_process.emplace();
        if (const Status started = m_process->start(m_threads, m_at); !started) {
            m_process.reset();
            return started;
        }
        m_remote.reset();
        if (!m_at.folder.empty()) {
            m_remote.emplace(
                m_at, [place = m_at] { return connectForFiles(place); }, m_sink,
                [this](Command command) { post(std::move(command)); });
        }
        const std::scoped_lock lock(m_mutex);
        m_runs = true;
        m_receiving = std::thread([this] { receive(); });
        return Done{};
    }

    void receive()
    {
        Result<std::optional<Event>> event = m_process->next();
        while (event && *event) {
            note(**event);
            hand(*std::move(*event));
            event = m_process->next();
        }
        std::string end;
        if (event) {
            end = m_process->wait();
        } else {
            m_process->kill();
            end = "sent what is no event: " + event.error().text();
        }
        std::map<RunId, std::int64_t> active;
        std::set<QueryTag> asked;
        {
            const std::scoped_lock lock(m_mutex);
            m_runs = false;
            active.swap(m_active);
            asked.swap(m_asked);
            if (m_quit && m_at.kind == EnginePlace::Kind::Background) {
                active.clear(); // their runs continue
            }
        }
        const Error why{"residua-engine", "the engine's process " + (end.empty() ? "ended" : end)};
        for (const auto& [run, step] : active) {
            hand(RunEnded{run,
                          RunStatus::Interrupted,
                          step,
                          {why.place, why.message + ". The run keeps its records and checkpoints: resume it"}});
        }
        for (const QueryTag tag : asked) {
            m_sink(QueryFailed{tag, why});
        }
    }

    void hand(Event event)
    {
        if (m_remote) {
            m_remote->fromPlace(std::move(event));
        } else {
            m_sink(std::move(event));
        }
    }

    /// Keeps what the process still owes an answer.
    void note(const Event& event)
    {
        const std::scoped_lock lock(m_mutex);
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
            if (isStopped(asked.run)) {
                m_sink(RunEnded{asked.run, RunStatus::Stopped, 0, {}});
                return;
            }
            m_sink(RunEnded{asked.run, RunStatus::Failed, 0, why, noEngine});
        } else if constexpr (std::is_same_v<Asked, GiveUp>) {
            // The query that it names has been answered.
        } else if constexpr (requires { asked.tag; }) {
            m_sink(QueryFailed{asked.tag, why});
        }
    }

    EventSink m_sink;
    int m_threads = 0;
    EnginePlace m_place;
    EnginePlace m_at; ///< where the process is, or the next one starts; used by the posting thread
    CheckpointFetcher m_fetcher;
    std::mutex m_mutex; ///< protects the members up to m_active
    std::condition_variable m_wake;
    std::vector<Command> m_waiting;
    bool m_quit = false;
    bool m_runs = false;                    ///< the process can take commands
    std::set<QueryTag> m_asked;             ///< not yet answered
    std::map<RunId, std::int64_t> m_active; ///< the last step of runs that have not ended
    std::optional<EngineProcess> m_process; ///< used by both threads; made and destroyed by the posting one
    std::optional<RemotePlace> m_remote;    ///< the same, if the place has a folder of its own
    std::thread m_receiving;
    std::thread m_posting; ///< last, because the thread uses the other members
};

Session::Session(EventSink sink, int threads, EnginePlace place)
    : m_impl(std::make_unique<Impl>(std::move(sink), threads, std::move(place)))
{
}

Session::~Session() = default;

void Session::post(Command command)
{
    m_impl->post(std::move(command));
}

} // namespace residua::engine
