// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/session.h"
#include "engine/link/process/file_link.h"
#include "engine/link/remote/remote_engine.h"
#include "projects/base/result.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace residua::engine {

[[nodiscard]] bool beginsRun(const Command& command);
/// True for the commands that act on what an engine has.
[[nodiscard]] bool controls(const Command& command);
/// True if `command` stops the run that `other` begins, or gives up the query `other`.
[[nodiscard]] bool givesUp(const Command& command, const Command& other);

/// The functions that a session provides to the preparations of its commands. They are called on their threads.
class PreparationOwner {
public:
    virtual ~PreparationOwner() = default;
    /// Returns the command for the place, as RemoteEngine::toRemote().
    [[nodiscard]] virtual Result<std::optional<Command>> translate(const Command& command, const RemoteLink& link) = 0;
    virtual void postTranslated(const Command& command, const Command& there) = 0;
    /// Notes that a command will not be posted. Returns false if it has been answered because the process has ended.
    [[nodiscard]] virtual bool settle(const Command& command) = 0;
    virtual void refuse(const Command& command, const Error& why) = 0;
    virtual void answerGivenUp(const Command& command) = 0;
    virtual void notice(const Command& command, const std::string& text) = 0;
    virtual void take(Event event) = 0;
};

/// Commands whose files are exchanged with a place, each on a thread of its own.
class Preparations {
public:
    explicit Preparations(PreparationOwner& owner) : m_owner(owner) {}
    /// Precondition: join() was called.
    ~Preparations() = default;
    Preparations(const Preparations&) = delete;
    Preparations& operator=(const Preparations&) = delete;

    /// Prepares a command, and posts it to the place. Refuses a run while another one is prepared.
    void start(const Command& command, const EngineRemote& place);
    /// Cancels what `command` gives up, if it has not been posted. Any thread.
    void giveUp(const Command& command);
    /// True if `command` is for a run or a query in preparation: it waits until that is posted, unless it has cancelled
    /// it.
    [[nodiscard]] bool takes(const Command& command);
    /// Cancels all that have not been posted, and ends the connections of the others. Any thread.
    void cancel();
    /// Cancels and waits.
    void join();

private:
    struct Preparation {
        explicit Preparation(Command asked) : command(std::move(asked)) {}

        Command command;
        RemoteWork work;
        std::vector<Command> held; ///< to the run that the command begins
        bool isPosted = false;     ///< can no longer be cancelled
        bool isDone = false;
        std::thread thread;
    };

    void carryOut(Preparation& preparation, const EngineRemote& place);
    void conclude(Preparation& preparation, const Error& why);
    [[nodiscard]] bool isOwed(Preparation& preparation);
    [[nodiscard]] PreparationWatch watchFor(const Preparation& preparation);

    PreparationOwner& m_owner;
    std::mutex m_mutex; ///< protects the list, and the members of its elements after `work`
    std::vector<std::shared_ptr<Preparation>> m_all;
};

} // namespace residua::engine
