// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/engine_link.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <utility>

namespace residua::cli {
namespace {

sigset_t interrupts()
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

} // namespace

EngineLink::EngineLink()
{
    // Before the session: its threads inherit the mask, so that the signals wait for us.
    const sigset_t set = interrupts();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    m_signals = signalfd(-1, &set, SFD_CLOEXEC);
    m_wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    m_session = std::make_unique<engine::Session>([this](engine::Event event) {
        {
            const std::scoped_lock lock(m_mutex);
            m_events.push_back(std::move(event));
        }
        eventfd_write(m_wake, 1);
    });
}

EngineLink::~EngineLink()
{
    m_session.reset();
    close(m_wake);
    close(m_signals);
}

std::optional<engine::Event> EngineLink::next()
{
    while (true) {
        if (std::optional<engine::Event> event = take()) {
            return event;
        }
        std::array<pollfd, 2> sources{pollfd{m_signals, POLLIN, 0}, pollfd{m_wake, POLLIN, 0}};
        if (poll(sources.data(), sources.size(), -1) < 0) {
            continue; // a debugger's signal
        }
        if (sources[0].revents != 0) {
            signalfd_siginfo info{};
            if (read(m_signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
                return std::nullopt;
            }
        }
        eventfd_t count = 0;
        eventfd_read(m_wake, &count);
    }
}

std::optional<engine::Event> EngineLink::take()
{
    const std::scoped_lock lock(m_mutex);
    if (m_events.empty()) {
        return std::nullopt;
    }
    engine::Event event = std::move(m_events.front());
    m_events.pop_front();
    return event;
}

} // namespace residua::cli
