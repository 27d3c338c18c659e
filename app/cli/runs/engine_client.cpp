// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/runs/engine_client.h"

#include "app/cli/terminal/terminal_text.h"
#include "engine/runs/results/remotes.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <limits>
#include <utility>

namespace residua::cli {
namespace {

/// Time reserved for ending the process and for checkpoints that take longer than the last one.
constexpr std::chrono::seconds kSpare{1};
constexpr int kCheckpoints = 2;

sigset_t heardSignals()
{
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) {
        sigaddset(&set, signal);
    }
    struct sigaction hangUp {};
    if (sigaction(SIGHUP, nullptr, &hangUp) == 0 && hangUp.sa_handler != SIG_IGN) {
        sigaddset(&set, SIGHUP);
    }
    return set;
}

int millisecondsUntil(std::optional<EngineClient::Clock::time_point> until)
{
    if (!until) {
        return -1;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until - EngineClient::Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, std::numeric_limits<int>::max()));
}

std::filesystem::path runOf(const engine::Command& question)
{
    return std::visit(
        [](const auto& asked) -> std::filesystem::path {
            if constexpr (requires { asked.of; }) {
                return asked.of.runDirectory;
            } else if constexpr (requires { asked.runDirectory; }) {
                return asked.runDirectory;
            } else {
                return {};
            }
        },
        question);
}

engine::QueryTag tagOf(const engine::Command& question)
{
    return std::visit(
        [](const auto& asked) {
            if constexpr (requires { asked.tag; }) {
                return asked.tag;
            } else {
                return engine::QueryTag{};
            }
        },
        question);
}

constexpr double kMostThreads = 1024;
constexpr const char* kThreads = "threads";
constexpr const char* kTimeLimit = "time-limit";
constexpr const char* kPlace = "place";
constexpr const char* kFolder = "folder";
constexpr const char* kDetach = "detach";

} // namespace

void TimeLimit::started(Clock::time_point now)
{
    m_last = now;
    if (m_state != State::Stopped) {
        m_state = m_measured ? State::Measured : State::Unmeasured;
    }
}

void TimeLimit::heard(Clock::time_point now)
{
    if (m_state != State::Preparing) {
        m_longestPause = std::max(m_longestPause, now - m_last);
    }
    m_last = now;
}

void TimeLimit::checkpointed(Clock::time_point now)
{
    m_longestCheckpoint = std::max(m_longestCheckpoint, now - m_last);
    m_measured = true;
    if (m_state == State::Unmeasured || m_state == State::Asked) {
        m_state = State::Measured;
    }
}

TimeLimit::Clock::time_point TimeLimit::stopAt() const
{
    const Clock::duration reserve = m_longestPause + kCheckpoints * m_longestCheckpoint + kSpare;
    return m_begin + m_limit - reserve;
}

std::optional<TimeLimit::Clock::time_point> TimeLimit::next() const
{
    switch (m_state) {
    case State::Unmeasured:
        return std::min(m_begin + m_limit / 2, stopAt());
    case State::Preparing:
    case State::Asked:
    case State::Measured:
        return stopAt();
    case State::Stopped:
        break;
    }
    return std::nullopt;
}

TimeLimit::Act TimeLimit::due(Clock::time_point now)
{
    if (m_state == State::Stopped || now < *next()) {
        return Act::Nothing;
    }
    if (isOver(now)) {
        m_state = State::Stopped;
        return Act::Stop;
    }
    m_state = State::Asked;
    return Act::Checkpoint;
}

EngineClient::EngineClient(int threads, const engine::EngineRemote& place)
{
    // Before the session starts, because its threads inherit the mask, which keeps the signals pending for this object.
    const sigset_t set = heardSignals();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    m_signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    m_wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    const auto sink = [this](engine::Event event) {
        {
            const std::scoped_lock lock(m_mutex);
            m_events.push_back(std::move(event));
        }
        eventfd_write(m_wake, 1);
    };
    m_session = std::make_unique<engine::Session>(sink, threads, place);
}

EngineClient::~EngineClient()
{
    // Discards signals meant for the finished work. A signal that arrives while the engine closes is not handled.
    while (takeSignal()) {
    }
    const sigset_t set = heardSignals();
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    m_session.reset();
    close(m_wake);
    close(m_signals);
}

Heard EngineClient::next(std::optional<Clock::time_point> until)
{
    while (true) {
        if (const std::optional<Signal> signal = takeSignal()) {
            return *signal;
        }
        if (until && Clock::now() >= *until) {
            return TimeUp{};
        }
        if (std::optional<engine::Event> event = takeEvent()) {
            return *std::move(event);
        }
        std::array<pollfd, 2> sources{pollfd{m_signals, POLLIN, 0}, pollfd{m_wake, POLLIN, 0}};
        // If a debugger interrupts the call, the loop polls again.
        poll(sources.data(), sources.size(), millisecondsUntil(until));
        eventfd_t count = 0;
        eventfd_read(m_wake, &count);
    }
}

std::optional<Signal> EngineClient::takeSignal()
{
    signalfd_siginfo info{};
    if (read(m_signals, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) {
        return std::nullopt;
    }
    switch (info.ssi_signo) {
    case SIGINT:
        return Signal::Interrupt;
    case SIGUSR1:
        return Signal::Checkpoint;
    default:
        return Signal::Terminate;
    }
}

std::optional<engine::Event> EngineClient::takeEvent()
{
    const std::scoped_lock lock(m_mutex);
    if (m_events.empty()) {
        return std::nullopt;
    }
    engine::Event event = std::move(m_events.front());
    m_events.pop_front();
    return event;
}

Computing Computing::from(const Arguments& arguments)
{
    Computing computing;
    computing.threads = static_cast<int>(arguments.integer(kThreads, 0));
    if (const auto limit = arguments.duration(kTimeLimit)) {
        computing.timeLimit = std::make_shared<TimeLimit>(TimeLimit::Clock::now(), *limit);
    }
    return computing;
}

Status readPlace(Computing& computing, const Arguments& arguments)
{
    using Kind = engine::EngineRemote::Kind;
    const auto folder = arguments.has(kFolder) ? std::optional<std::filesystem::path>(arguments.text(kFolder))
                                               : std::optional<std::filesystem::path>();
    Result<engine::ChosenRemote> chosen = engine::chooseRemote(arguments.text(kPlace), folder);
    if (!chosen) {
        return Error{"--" + chosen.error().place, chosen.error().message};
    }
    computing.place = std::move(chosen->place);
    computing.place.hasRuns = computing.place.kind == Kind::CommandLine;
    computing.isNewPlace = chosen->isNew;
    computing.formerCommand = std::move(chosen->formerCommand);
    computing.detach = arguments.has(kDetach);
    if (computing.detach && !arguments.has(kPlace)) {
        computing.place = engine::backgroundRemote();
    }
    if (computing.detach && computing.place.kind != Kind::Background) {
        return Error{std::string("--") + kDetach, "is only for --place background"};
    }
    return Done{};
}

void keepPlace(const Computing& computing, const std::filesystem::path& run, const Console& console)
{
    engine::EngineRemote place = computing.place;
    place.hasRuns = false;
    if (computing.isNewPlace) {
        const Status kept = engine::keepNamedRemote(place);
        const std::string before = computing.formerCommand.empty() ? "" : ", before: " + computing.formerCommand;
        console.remark(kept ? "the place " + place.name + " is in " + engine::remotesFile().string() +
                                  " from now on: " + place.command + before
                            : kept.error().text());
    }
    if (!computing.place.hasRuns || run.empty()) {
        return;
    }
    if (const Status recorded = engine::recordRemote(run, place); !recorded) {
        console.remark(recorded.error().text());
    }
}

std::optional<engine::Event> ask(const engine::Command& question, const Console& console, const Computing& computing,
                                 const std::function<void(const engine::Event&)>& news)
{
    EngineClient client(computing.threads, computing.place);
    client.post(question);
    bool givenUp = false;
    while (true) {
        Heard heard = client.next();
        auto* const event = std::get_if<engine::Event>(&heard);
        if (event != nullptr && !std::holds_alternative<engine::RemoteUnknown>(*event)) { // its refusal follows
            const bool isPart = std::visit([]<class Told>(const Told&) { return engine::kIsProgress<Told>; }, *event);
            const bool failed = std::holds_alternative<engine::QueryFailed>(*event);
            if (!isPart && !failed) {
                keepPlace(computing, runOf(question), console);
            }
            if (!isPart && news) {
                console.status("");
            }
            if (!isPart) {
                return givenUp && failed ? std::nullopt : std::optional(std::move(*event));
            }
            const auto* const progress = std::get_if<engine::QueryProgress>(&*event);
            if (progress && !progress->text.empty()) {
                console.remark("note: " + progress->text);
            } else if (news) {
                news(*event);
            }
        }
        const auto* const signal = std::get_if<Signal>(&heard);
        if (signal && *signal != Signal::Checkpoint && !std::exchange(givenUp, true)) {
            client.post(engine::GiveUp{tagOf(question)});
        }
    }
}

std::function<void(const engine::Event&)> shareTeller(const Console& console, std::string before, std::string after)
{
    return [&console, before = std::move(before), after = std::move(after)](const engine::Event& news) {
        const double share = std::get<engine::QueryProgress>(news).share;
        console.status(before + std::to_string(static_cast<int>(100 * share)) + after);
    };
}

std::filesystem::path pathFor(const Computing& computing, const std::filesystem::path& path)
{
    const bool isOwn = computing.place.kind != engine::EngineRemote::Kind::Background;
    return isOwn || path.empty() ? path : std::filesystem::absolute(path).lexically_normal();
}

void setPaths(engine::RunRef& of, const Computing& computing)
{
    of.runDirectory = pathFor(computing, of.runDirectory);
    of.projectDirectory = pathFor(computing, of.projectDirectory);
}

OptionSpec placeOption()
{
    return choiceOption(kPlace, "PLACE",
                        "where the engine runs: background (a process that outlives this one), a name from the list of "
                        "places that the window has too, or a new place as NAME=COMMAND, where COMMAND ends in "
                        "residua-engine --stdio (default: the run's place, or a child of this process)",
                        {"background"});
}

OptionSpec folderOption()
{
    return {.name = kFolder,
            .kind = OptionKind::Text,
            .value = "DIR",
            .help = "of --place: a folder on the other machine that holds projects and runs, where it sees none of "
                    "this machine's; residua-cli fetch brings checkpoints back"};
}

OptionSpec detachOption()
{
    return {.name = kDetach,
            .kind = OptionKind::Flag,
            .value = {},
            .help = "start the run in the background and return; residua-cli watch and stop follow it and end it"};
}

OptionSpec deviceOption()
{
    return choiceOption("device", "KEY", "cpu or cuda:N (residua-cli devices lists them)", {"cpu", "cuda:0"});
}

OptionSpec threadsOption()
{
    return {kThreads, OptionKind::Integer, "N", "threads of the processor (default: one for each core)", {},
            1,        kMostThreads};
}

OptionSpec timeLimitOption()
{
    return {kTimeLimit, OptionKind::Duration, "TIME",
            "stop, with a checkpoint, before so much time is over: 45s, 90m, 3h55m, 1d2h"};
}

} // namespace residua::cli
