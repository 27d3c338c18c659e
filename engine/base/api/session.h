// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/commands.h"
#include "engine/base/api/events.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace residua::engine {

/// Receives events on threads of the engine, or within Session::post() for a command that it gives up. May be called by
/// several threads at once. Must return quickly and must not run the session's destructor.
using EventSink = std::function<void(Event)>;

/// Where the programs have the process of their engine.
struct EngineRemote {
    enum class Kind {
        Child,       ///< a child of this process, which ends with it; RESIDUA_ENGINE overrides it
        Background,  ///< a process on this machine that outlives this one, and that the next one finds
        CommandLine, ///< `command`
    };
    std::string name; ///< for the user
    Kind kind = Kind::Child;
    std::string command; ///< a command line that ends in the engine: "ssh gpu1 residua-engine --stdio"
    /// The folder on the other machine that receives projects and runs. Runs have a record on this machine too, which
    /// has the place's name and folder, but no command; commands for such a run go there from any session, by the
    /// user's list of places. Empty: both machines see the same folders.
    std::filesystem::path folder;
    /// True if the user says that the runs of commands are here now, whatever place they record.
    bool hasRuns = false;
    bool operator==(const EngineRemote&) const = default;
};

/// The engine: one thread that owns every tensor. `post` never blocks and may be called from any thread. Commands are
/// executed in order; those for a running run at its next step boundary, or during a long query beside it. The
/// destructor stops a running run after a checkpoint and joins the thread.
///
/// The programs have the engine in a process of its own (engine/link/process), which the first command starts. If that
/// process ends by itself, its run ends as Interrupted, its queries fail, and the next command starts another process.
/// A background engine is not stopped with the session: its run continues, and its queries are given up.
class Session {
public:
    /// `threads` is the number of CPU threads for mathematics. 0: the library's default, or for a resumed run the
    /// number that it had, because sums are split by thread and their last bits depend on the number. `place` is used
    /// by the programs only.
    explicit Session(EventSink sink, int threads = 0, EngineRemote place = {});
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    void post(Command command);

private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace residua::engine
