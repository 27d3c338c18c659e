// SPDX-License-Identifier: GPL-3.0-or-later
// engine/api/session.h for programs that open the engine. Those that have it linked use engine/session/session.cpp.
#include "engine/api/environment.h"
#include "engine/api/session.h"
#include "engine/opened/engine_library.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace residua::engine {

/// The engine is opened with the first command, on a thread of its own, so that whoever makes a session does not wait.
/// That thread ends when the engine has what came meanwhile. Where there is no engine, it stays and refuses.
class Session::Impl {
public:
    Impl(EventSink sink, int threads) : m_sink(std::move(sink)), m_threads(threads)
    {
        prepareEnvironment(); // here: beside the GUI thread a variable must not be set
        m_opening = std::thread([this] { open(); });
    }

    ~Impl()
    {
        {
            const std::scoped_lock lock(m_mutex);
            m_quit = true;
        }
        m_wake.notify_one();
        m_opening.join();
        if (m_session != nullptr) {
            m_table->close(m_session);
        }
    }

    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    void post(Command command)
    {
        {
            const std::scoped_lock lock(m_mutex);
            if (m_session != nullptr) {
                m_table->post(m_session, std::move(command));
                return;
            }
            m_waiting.push_back(std::move(command));
        }
        m_wake.notify_one();
    }

private:
    void open()
    {
        std::unique_lock lock(m_mutex);
        if (!waitForCommands(lock)) {
            return;
        }
        lock.unlock();
        const Result<const SessionTable*>& table = openEngine();
        lock.lock();
        if (m_quit) {
            return; // the session was closed while the engine was opened
        }
        lock.unlock();
        const Result<SessionTable::Opened*> session = table ? (*table)->make(m_sink, m_threads) : table.error();
        lock.lock();
        if (!session) {
            refuseAll(lock, session.error());
            return;
        }
        m_table = *table;
        m_session = *session;
        if (m_quit) {
            return; // the destructor closes it
        }
        for (Command& command : m_waiting) {
            m_table->post(m_session, std::move(command));
        }
        m_waiting.clear();
    }

    /// Whether there are any; false at the end.
    bool waitForCommands(std::unique_lock<std::mutex>& lock)
    {
        m_wake.wait(lock, [this] { return m_quit || !m_waiting.empty(); });
        return !m_quit;
    }

    void refuseAll(std::unique_lock<std::mutex>& lock, const Error& why)
    {
        while (waitForCommands(lock)) {
            const std::vector<Command> commands = std::exchange(m_waiting, {});
            lock.unlock();
            for (const Command& command : commands) {
                std::visit([&](const auto& value) { refuse(value, why); }, command);
            }
            lock.lock();
        }
    }

    template <class Asked>
    void refuse(const Asked& asked, const Error& why)
    {
        if constexpr (std::is_same_v<Asked, StartRun> || std::is_same_v<Asked, ResumeRun>) {
            m_sink(RunEnded{asked.run, RunStatus::Failed, 0, why, true});
        } else if constexpr (std::is_same_v<Asked, GiveUp>) {
            // What it is about has been answered.
        } else if constexpr (requires { asked.tag; }) {
            m_sink(QueryFailed{asked.tag, why});
        }
    }

    EventSink m_sink;
    int m_threads = 0;
    std::mutex m_mutex; ///< guards what follows
    std::condition_variable m_wake;
    std::vector<Command> m_waiting; ///< posted before there is a session
    bool m_quit = false;
    const SessionTable* m_table = nullptr;
    SessionTable::Opened* m_session = nullptr;
    std::thread m_opening; ///< last: it starts when all else is there
};

Session::Session(EventSink sink, int threads) : m_impl(std::make_unique<Impl>(std::move(sink), threads)) {}

Session::~Session() = default;

void Session::post(Command command)
{
    m_impl->post(std::move(command));
}

} // namespace residua::engine
