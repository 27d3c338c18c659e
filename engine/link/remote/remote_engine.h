// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/session.h"
#include "engine/base/machine/preparation.h"
#include "engine/link/remote/remote_files.h"
#include "engine/link/remote/run_mirror.h"
#include "projects/base/result.h"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

namespace residua::engine {

/// Returns the run on another machine that the run in `directory` records; nullopt for any other folder.
[[nodiscard]] std::optional<RemoteRun> remoteRunAt(const std::filesystem::path& directory);
/// Returns the directory of the run that a command reads or continues; empty if it names no run.
[[nodiscard]] std::filesystem::path runOf(const Command& command);
/// Returns the place where a session of `own` executes a command. That is the run's place if the command names a run
/// that is elsewhere, and this machine if it needs files of this machine; otherwise `own`. nullopt for commands to what
/// is already active. Returns an error if the user's list lacks the run's place, and if the command needs a checkpoint
/// here that has not been fetched. The run's place is `own` if the user says so (EngineRemote::hasRuns) or if it has
/// the name and folder that the run records; otherwise it is the one in the list.
[[nodiscard]] Result<std::optional<EngineRemote>> placeFor(const Command& command, const EngineRemote& own);

/// Returns the place of the command's run if placeFor() fails because the user's list lacks it.
[[nodiscard]] std::optional<RemoteUnknown> unknownRemoteOf(const Command& command, const EngineRemote& own);

/// Connects for files. Blocking; an error says why there is no connection.
using ConnectForFiles = std::function<Result<FileConnection>()>;

/// The connection, cancellation and answers of a command's preparation at a place.
struct RemoteLink {
    PreparationWatch watch; ///< of the sending of files, which it may cancel
    ConnectForFiles connect;
    EventSink answers; ///< receives the events of a command that needs no engine
};

/// True if a command's preparation exchanges files with the place.
[[nodiscard]] bool exchangesFiles(const Command& command);

/// The runs of a session at a place with a folder of its own. Translates commands and events, which name directories of
/// this machine, and keeps the records here. Sends a project before its run begins. Several threads may call toRemote()
/// for different commands, and another one fromRemote().
class RemoteEngine {
public:
    /// `sink` receives events with directories of this machine; `post` sends a command to the engine there.
    RemoteEngine(EngineRemote place, EventSink sink, std::function<void(Command)> post);

    /// Returns the command for the engine there; nullopt if it has been answered. That is the case for a run to resume
    /// that has finished there since the connection was lost. A query of a run with its own project does not send that
    /// again; if the place lacks a file of it, fromRemote() posts the query once more, which then sends it.
    [[nodiscard]] Result<std::optional<Command>> toRemote(const Command& command, const RemoteLink& link);
    /// Drops what toRemote() keeps of a command that is not sent after all.
    void forget(const Command& command);
    /// Returns false if the event is of a run that was not begun from here.
    [[nodiscard]] bool takes(const Event& event);
    /// Passes an event of the engine there to the sink if takes() holds, and returns that.
    bool fromRemote(Event event);

private:
    /// A run from its command to its end.
    struct Run {
        StartRun start;                             ///< for a new run
        std::map<std::string, std::string> renamed; ///< of its project's files
        std::filesystem::path directory;            ///< here; empty for a new run
        FileDescriptor held;                        ///< the directory's lock
        std::optional<RemoteFiles> files;           ///< until the run has begun
        std::optional<RunMirror> mirror;            ///< once it has begun
        bool dropped = false;                       ///< its record cannot be made: it is being stopped
        std::string unwritten;                      ///< why records wait in memory; empty: they can be written
    };

    using Translated = Result<std::optional<Command>>;

    [[nodiscard]] Translated translated(const StartRun& command, const RemoteLink& link);
    [[nodiscard]] Translated translated(const ResumeRun& command, const RemoteLink& link);
    template <class Request>
    [[nodiscard]] Translated translatedQuery(const Request& request, const RemoteLink& link);
    template <class Request>
    [[nodiscard]] bool hasProjectThere(const Request& request);
    [[nodiscard]] bool asksAgain(const Event& event);
    void keepAnswer(Event& event);
    /// Null if the run was not begun from here.
    [[nodiscard]] std::shared_ptr<Run> find(std::optional<RunId> id);
    [[nodiscard]] Result<RunFile> catchUp(RemoteFiles& files, const RemoteRun& remote, const RunFile& here);
    [[nodiscard]] static Status conclude(const ResumeRun& command, FileDescriptor held, const RunFile& there,
                                         const EventSink& answers);
    void begin(Run& run, RunStarted started);
    [[nodiscard]] Status makeMirror(Run& run, const RunStarted& started);
    void record(RunId id, Run& run, Event event);

    EngineRemote m_place;
    EventSink m_sink;
    std::function<void(Command)> m_post;
    std::mutex m_mutex; ///< guards the members after it
    std::map<RunId, std::shared_ptr<Run>> m_runs;
    std::map<QueryTag, Command> m_unsent;            ///< queries whose project was not sent, until they are answered
    std::set<QueryTag> m_again;                      ///< those that are asked again
    std::map<QueryTag, KnockoutRequest> m_knockouts; ///< whose results the records here keep, until they are answered
};

} // namespace residua::engine
