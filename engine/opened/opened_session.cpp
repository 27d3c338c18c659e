// SPDX-License-Identifier: GPL-3.0-or-later
// engine/api/session.h for programs that open the engine at run time. Programs linked with it use
// engine/session/session.cpp.
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

/// Opens the engine with the first command on a separate thread, so that constructing a session does not block. The
/// thread ends when the engine has received the commands posted meanwhile. If there is no engine, the thread continues
/// and refuses commands.
class Session::Impl {
public:
    Impl(EventSink sink, int threads) : m_sink(std::move(sink)), m_threads(threads)
    {
        prepareEnvironment(); // here, because setting a variable beside the GUI's thread is unsafe
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

    /// Waits for commands; returns false at the end.
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
            // The query that it names has been answered.
        } else if constexpr (requires { asked.tag; }) {
            m_sink(QueryFailed{asked.tag, why});
        }
    }

    EventSink m_sink;
    int m_threads = 0;
    std::mutex m_mutex; ///< protects the members below
    std::condition_variable m_wake;
    std::vector<Command> m_waiting; ///< posted before the session exists
    bool m_quit = false;
    const SessionTable* m_table = nullptr;
    SessionTable::Opened* m_session = nullptr;
    std::thread m_opening; ///< last, because the thread uses the other members
};

Session::Session(EventSink sink, int threads) : m_impl(std::make_unique<Impl>(std::move(sink), threads)) {}

Session::~Session() = default;

void Session::post(Command command)
{
    m_impl->post(std::move(command));
}

} // namespace residua::engine
