// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/api/session.h"

#include "engine/base/api/environment.h"
#include "engine/compute/queries/base/query.h"
#include "engine/compute/runtime/cuda_backend.h"
#include "engine/compute/runtime/device.h"
#include "engine/compute/session/active_run.h"
#include "engine/compute/session/rank_run.h"
#include "engine/runs/store/run_files.h"
#include "engine/runs/store/run_writer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace residua::engine {

namespace {

/// The time of a query between two steps of a run, chosen to answer within seconds while the run continues.
constexpr std::chrono::milliseconds kQueryShare{100};
constexpr std::chrono::seconds kPreparationNotices{1};
/// The intervals at which the engine's thread checks for results of other threads and, while a run is paused, for
/// requests of other processes.
constexpr std::chrono::milliseconds kLook{20};
constexpr std::chrono::milliseconds kLookWhilePaused{200};

} // namespace

class Session::Impl {
public:
    Impl(EventSink sink, int threads) : m_sink(std::move(sink)), m_threads(threads)
    {
        prepareEnvironment(); // here, before the engine's thread: setenv beside another thread's getenv is a race
        m_thread = std::thread([this] {
            m_threadsOfNew = useThreads(m_threads);
            loop();
        });
    }

    ~Impl()
    {
        {
            const std::scoped_lock lock(m_mutex);
            m_quit = true;
        }
        m_wake.notify_one();
        m_thread.join();
    }

    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    void post(Command command)
    {
        {
            const std::scoped_lock lock(m_mutex);
            m_commands.push_back(std::move(command));
        }
        m_wake.notify_one();
    }

private:
    enum class Next { Work, Quit };

    void loop()
    {
        while (receive() == Next::Work) {
            if (m_run) {
                m_run->heedRequests();
            }
            if (m_run && m_run->running()) {
                m_run->advance();
            }
            for (std::size_t kind = 0; kind < m_queries.size(); ++kind) {
                answer(kind);
            }
            if (m_run && m_run->ended()) {
                m_run.reset();
            }
        }
        if (m_run) {
            m_run->stop();
        }
    }

    /// Executes posted commands; waits for them if there is no other work.
    Next receive()
    {
        {
            std::unique_lock lock(m_mutex);
            const auto called = [this] { return m_quit || !m_commands.empty(); };
            const auto busy = [](const std::unique_ptr<Query>& query) { return query && !query->waits(); };
            const auto asked = [](const std::unique_ptr<Query>& query) { return query != nullptr; };
            const bool runs = m_run && m_run->running();
            if (!runs && m_run && std::ranges::none_of(m_queries, asked)) {
                m_wake.wait_for(lock, kLookWhilePaused, called);
            } else if (!runs && std::ranges::none_of(m_queries, asked)) {
                m_wake.wait(lock, called);
            } else if (!runs && std::ranges::none_of(m_queries, busy)) {
                m_wake.wait_for(lock, kLook, called);
            }
            if (m_quit) {
                return Next::Quit;
            }
        }
        while (const std::optional<Command> command = takeCommand()) {
            std::visit(
                [&]<class Asked>(const Asked& value) {
                    if constexpr (requires { this->carryOut(value); }) {
                        carryOut(value);
                    } else {
                        ask(m_queries[command->index()], value);
                    }
                },
                *command);
        }
        return Next::Work;
    }

    /// Removes and returns the next command; nullopt if the queue is empty, or at the end. isWanted() still sees the
    /// later ones.
    std::optional<Command> takeCommand()
    {
        const std::scoped_lock lock(m_mutex);
        if (m_quit || m_commands.empty()) {
            return std::nullopt;
        }
        Command command = std::move(m_commands.front());
        m_commands.pop_front();
        return command;
    }

    /// Executes commands to the active run. Long pieces of queries call it, so that a run can stop or pause while
    /// another run's data are read.
    void controlRun()
    {
        while (const std::optional<Command> command = takeControl()) {
            std::visit(
                [&]<class Asked>(const Asked& value) {
                    if constexpr (kControlsRun<Asked>) {
                        carryOut(value);
                    }
                },
                *command);
        }
        if (m_run && !m_run->ended()) {
            m_run->heedRequests();
        }
    }

    /// Removes and returns the next such command. Stops at a command that begins a run: later commands may be for that
    /// run, and whether it may begin depends on earlier ones.
    std::optional<Command> takeControl()
    {
        const std::scoped_lock lock(m_mutex);
        const auto controls = []<class Asked>(const Asked&) { return kControlsRun<Asked>; };
        const auto begins = []<class Asked>(const Asked&) { return kBeginsRun<Asked>; };
        const auto next = std::ranges::find_if(m_commands, [&](const Command& command) {
            return std::visit(controls, command) || std::visit(begins, command);
        });
        if (m_quit || next == m_commands.end() || std::visit(begins, *next)) {
            return std::nullopt;
        }
        Command command = std::move(*next);
        m_commands.erase(next);
        return command;
    }

    void answer(std::size_t kind)
    {
        const auto enough = std::chrono::steady_clock::now() + kQueryShare;
        std::unique_ptr<Query>& query = m_queries[kind];
        while (query && (std::chrono::steady_clock::now() < enough)) {
            bool givenUp = false;
            std::optional<Event> event = query->advance([this, kind, tag = query->tag(), &givenUp](double) {
                controlRun();
                givenUp = givenUp || !isWanted(kind, tag);
                return !givenUp;
            });
            if (givenUp) {
                return; // the command that cancels it comes next and answers
            }
            if (std::optional<Event> news = query->takeNews()) {
                m_sink(std::move(*news));
            }
            if (event) {
                query.reset();
                m_sink(std::move(*event));
            } else if (query->waits()) {
                return;
            }
        }
    }

    template <class Request>
    void ask(std::unique_ptr<Query>& query, const Request& request)
    {
        if (query) {
            m_sink(QueryFailed{query->tag(), Error{"query", "a newer one took its place"}});
        }
        query = queryFor(request);
    }

    /// Begins a run unless one is active. `directory` is that of a run to resume, or empty.
    template <class Begin>
    void begin(RunId id, const std::filesystem::path& directory, Begin&& begun)
    {
        if (m_run && !m_run->ended()) {
            const Result<FileDescriptor> held = directory.empty() ? FileDescriptor() : RunWriter::hold(directory);
            const std::string active = m_run->directory().string();
            m_sink(RunEnded{id, RunStatus::Failed, 0,
                            held ? Error{"run", "another run is active, " + active +
                                                    ": wait for its end, or end it with residua-cli stop " + active}
                                 : held.error()});
            return;
        }
        if (!isWanted(id)) {
            m_sink(RunEnded{id, RunStatus::Stopped, 0, {}});
            return;
        }
        Result<std::unique_ptr<ActiveRun>> run = Error{};
        bool givenUp = false; // if it stays false, an error is from the preparation itself
        if (const auto failure = attempt([&] {
                run = begun(PreparationWatches{watchFor(id, "preparing the data", givenUp),
                                               watchFor(id, "initialising the weights", givenUp),
                                               watchFor(id, "waiting for the other ranks", givenUp)});
            })) {
            run = Error{"engine", failure->text};
        }
        if (!run) {
            m_sink(givenUp ? RunEnded{id, RunStatus::Stopped, 0, {}} : RunEnded{id, RunStatus::Failed, 0, run.error()});
            return;
        }
        m_run = std::move(*run);
    }

    /// True unless a run that is being prepared has been stopped meanwhile.
    bool isWanted(RunId id)
    {
        const std::scoped_lock lock(m_mutex);
        return !m_quit && std::ranges::none_of(m_commands, [id](const Command& command) {
            const auto* stop = std::get_if<Stop>(&command);
            return stop && stop->run == id;
        });
    }

    /// True unless a query has been cancelled, or replaced by a newer one of its kind.
    bool isWanted(std::size_t kind, QueryTag tag)
    {
        const std::scoped_lock lock(m_mutex);
        return !m_quit && std::ranges::none_of(m_commands, [kind, tag](const Command& command) {
            const auto* giveUp = std::get_if<GiveUp>(&command);
            return command.index() == kind || (giveUp && giveUp->tag == tag);
        });
    }

    /// Returns a watch for the run's preparation. Sets `givenUp` when it cancels.
    PreparationWatch watchFor(RunId id, const std::string& what, bool& givenUp)
    {
        return [this, id, what, &givenUp, said = -1,
                next = std::chrono::steady_clock::now() + kPreparationNotices](double share) mutable {
            const auto now = std::chrono::steady_clock::now();
            if (const auto percent = static_cast<int>(100 * share); now > next && percent != said) {
                next = now + kPreparationNotices;
                said = percent;
                m_sink(Notice{id, what + ": " + std::to_string(percent) + " %"});
            }
            givenUp = givenUp || !isWanted(id);
            return !givenUp;
        };
    }

    /// Returns the active run if it has this id. Commands to a run that has ended are too late and ignored.
    ActiveRun* find(RunId id) const { return m_run && m_run->id() == id && !m_run->ended() ? m_run.get() : nullptr; }

    void carryOut(const StartRun& command)
    {
        (void)useThreads(m_threadsOfNew);
        begin(command.run, {},
              [&](const PreparationWatches& watches) { return ActiveRun::start(command, m_sink, watches); });
    }
    void carryOut(const ResumeRun& command)
    {
        const auto file = m_threads == 0 ? readRunFile(command.of.runDirectory) : Result<RunFile>(Error{});
        (void)useThreads(file && file->info.threads > 0 ? static_cast<int>(file->info.threads) : m_threadsOfNew);
        begin(command.run, command.of.runDirectory,
              [&](const PreparationWatches& watches) { return ActiveRun::resume(command, m_sink, watches); });
    }
    void carryOut(const FollowRun& command)
    {
        (void)useThreads(m_threadsOfNew);
        bool givenUp = false;
        followRanks(
            command, m_sink, [this, id = command.run] { return isWanted(id); },
            watchFor(command.run, "waiting for the other ranks", givenUp));
    }
    void carryOut(const RefuseRanks& command)
    {
        Ranks::refuseOfProcess(ownRankRefused(command.error));
        m_sink(RunEnded{command.run, RunStatus::Failed, 0, command.error});
    }
    void carryOut(const Pause& command)
    {
        if (ActiveRun* const run = find(command.run)) {
            run->pause();
        }
    }
    void carryOut(const Continue& command)
    {
        if (ActiveRun* const run = find(command.run)) {
            run->goOn();
        }
    }
    void carryOut(const Step& command)
    {
        if (ActiveRun* const run = find(command.run)) {
            run->goOnFor(command.steps);
        }
    }
    void carryOut(const Stop& command)
    {
        if (ActiveRun* const run = find(command.run)) {
            run->stop();
        }
    }
    void carryOut(const WriteCheckpoint& command)
    {
        if (ActiveRun* const run = find(command.run)) {
            run->checkpoint();
        }
    }
    void carryOut(const ListDevices& command)
    {
        std::vector<DeviceInfo> devices;
        if (const auto failure = attempt([&] { devices = listDevices(); })) {
            m_sink(QueryFailed{command.tag, Error{"devices", failure->text}});
            return;
        }
        m_sink(DevicesListed{command.tag, std::move(devices)});
    }
    void carryOut(const FetchCheckpoint& command)
    {
        m_sink(QueryFailed{command.tag, Error{command.runDirectory.string(), "has its checkpoints on this machine"}});
    }
    void carryOut(const GiveUp& command)
    {
        for (std::unique_ptr<Query>& query : m_queries) {
            if (query && query->tag() == command.tag) {
                query.reset();
                m_sink(QueryFailed{command.tag, queryGivenUp()});
            }
        }
    }

    EventSink m_sink;
    int m_threads = 0;      ///< as requested; 0: not set
    int m_threadsOfNew = 0; ///< the number of CPU threads for new runs
    std::mutex m_mutex;     ///< guards m_commands and m_quit
    std::condition_variable m_wake;
    std::deque<Command> m_commands;
    bool m_quit = false;
    // Used by the engine thread only.
    std::unique_ptr<ActiveRun> m_run;
    /// The newest query of each kind, indexed by its request's position in Command, or null.
    std::array<std::unique_ptr<Query>, std::variant_size_v<Command>> m_queries;
    std::thread m_thread; ///< last, because the thread uses the other members
};

Session::Session(EventSink sink, int threads, EngineRemote /*place*/)
    : m_impl(std::make_unique<Impl>(std::move(sink), threads))
{
}

Session::~Session() = default;

void Session::post(Command command)
{
    m_impl->post(std::move(command));
}

} // namespace residua::engine
