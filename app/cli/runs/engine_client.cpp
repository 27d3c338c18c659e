// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/runs/engine_client.h"

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

} // namespace

EngineClient::EngineClient(int threads, const engine::EnginePlace& place)
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

std::optional<engine::Event> ask(const engine::Command& question, int threads,
                                 const std::function<void(const engine::Event&)>& news)
{
    EngineClient client(threads);
    client.post(question);
    bool givenUp = false;
    while (true) {
        Heard heard = client.next();
        if (auto* const event = std::get_if<engine::Event>(&heard)) {
            const bool isPart = std::visit([]<class Told>(const Told&) { return engine::kIsProgress<Told>; }, *event);
            if (!isPart) {
                const bool failed = std::holds_alternative<engine::QueryFailed>(*event);
                return givenUp && failed ? std::nullopt : std::optional(std::move(*event));
            }
            if (news) {
                news(*event);
            }
        }
        const auto* const signal = std::get_if<Signal>(&heard);
        if (signal && *signal != Signal::Checkpoint && !std::exchange(givenUp, true)) {
            client.post(engine::GiveUp{tagOf(question)});
        }
    }
}

} // namespace residua::cli
