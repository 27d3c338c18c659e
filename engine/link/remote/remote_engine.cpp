// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/link/remote/remote_engine.h"

#include "engine/base/api/environment.h"
#include "engine/base/api/run_progress.h"
#include "engine/link/bundle/manifest.h"
#include "engine/link/remote/remote_paths.h"
#include "engine/runs/results/effects.h"
#include "engine/runs/results/remotes.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/store/checkpoint.h"
#include "projects/cost/cost.h"
#include "projects/nodes/example_schema.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

template <class Told, class Asked>
constexpr bool answers()
{
    if constexpr (kIsQuery<Asked> && kAtRemote<Asked>) {
        return std::is_same_v<Told, AnswerOf<Asked>>;
    }
    return false;
}
template <class Told, class... Asked>
constexpr bool answersOne(std::type_identity<std::variant<Asked...>>)
{
    return (answers<Told, Asked>() || ...);
}

/// True for the answers to the queries that go to a place with a folder.
template <class Told>
constexpr bool
    kFromRemote = answersOne<Told>(std::type_identity<Command>()) || kIsOneOf<Told, GapProgress, QueryFailed>;

/// Returns an error if a command that runs on this machine needs a checkpoint that is elsewhere.
Status checkFetched(const fs::path& run, const RemoteRun& remote, std::optional<std::int64_t> step)
{
    const std::vector<std::int64_t> steps = checkpointSteps(run);
    if (step ? std::ranges::binary_search(steps, *step) : !steps.empty()) {
        return Done{};
    }
    const std::string option = step ? " --step " + std::to_string(*step) : "";
    return Error{run.string(), "has this checkpoint at " + remote.place +
                                   " only: fetch it first, with residua-cli fetch " + run.string() + option};
}

Result<RemoteFiles> openFiles(const RemoteLink& link)
{
    Result<FileConnection> connection = link.connect();
    return connection ? Result<RemoteFiles>(RemoteFiles(*std::move(connection))) : connection.error();
}

/// True for the commands that go to the place of their run.
template <class Asked>
constexpr bool kFollowsRun = kAtRemote<Asked> || std::is_same_v<Asked, FetchCheckpoint>;

/// Returns the place of a run, as placeFor() does.
Result<EngineRemote> placeOfRun(const RemoteRun& remote, const fs::path& run, const EngineRemote& own)
{
    if (own.hasRuns && own.folder.empty()) {
        return Error{run.string(), "is in a folder at its place, and \"" + own.name +
                                       "\" has none in the list of places: give --folder"};
    }
    const bool isSame =
        own.kind == EngineRemote::Kind::CommandLine && own.name == remote.place && own.folder == remote.folder;
    return own.hasRuns || isSame ? Result<EngineRemote>(own) : placeOf(remote, run);
}

} // namespace

std::optional<RemoteRun> remoteRunAt(const fs::path& directory)
{
    const Result<RunFile> file = directory.empty() ? Result<RunFile>(Error{}) : readRunFile(directory);
    return file ? file->remote : std::nullopt;
}

fs::path runOf(const Command& command)
{
    return std::visit(
        []<class Asked>(const Asked& asked) -> fs::path {
            if constexpr (requires { asked.of; }) {
                return asked.of.runDirectory;
            } else if constexpr (kIsOneOf<Asked, FollowRun, FetchCheckpoint>) {
                return asked.runDirectory;
            } else {
                return {};
            }
        },
        command);
}

Result<std::optional<EngineRemote>> placeFor(const Command& command, const EngineRemote& own)
{
    const std::optional<RemoteRun> remote = remoteRunAt(runOf(command));
    return std::visit(
        [&]<class Asked>(const Asked& asked) -> Result<std::optional<EngineRemote>> {
            if constexpr (kControlsRun<Asked> || kIsOneOf<Asked, FollowRun, RefuseRanks, GiveUp>) {
                return std::optional<EngineRemote>();
            } else if constexpr (kFollowsRun<Asked>) {
                if (remote) {
                    const Result<EngineRemote> place = placeOfRun(*remote, runOf(command), own);
                    return place ? Result(std::optional(*place)) : place.error();
                }
                if (!kIsOneOf<Asked, StartRun, ListDevices> && own.hasRuns && !own.folder.empty()) {
                    fs::path named = runOf(command);
                    if constexpr (requires { asked.of; }) {
                        named = named.empty() ? asked.of.projectDirectory : named;
                    }
                    return Error{named.string(),
                                 "is on this machine, of which \"" + own.name + "\" sees no folder: leave out --place"};
                }
            } else if constexpr (requires { asked.of; }) {
                RESIDUA_TRY(remote ? checkFetched(runOf(command), *remote, asked.of.step) : Done{});
            }
            const bool anywhere = kIsOneOf<Asked, StartRun, ListDevices>;
            return std::optional(own.folder.empty() || anywhere ? own : EngineRemote{});
        },
        command);
}

std::optional<RemoteUnknown> unknownRemoteOf(const Command& command, const EngineRemote& own)
{
    const bool follows = std::visit([]<class Asked>(const Asked&) { return kFollowsRun<Asked>; }, command);
    const fs::path run = runOf(command);
    const std::optional<RemoteRun> remote = follows && !own.hasRuns ? remoteRunAt(run) : std::nullopt;
    if (!remote || placeOfRun(*remote, run, own)) {
        return std::nullopt;
    }
    const QueryTag tag = std::visit(
        [](const auto& asked) {
            if constexpr (requires { asked.tag; }) {
                return asked.tag;
            } else {
                return QueryTag{};
            }
        },
        command);
    return RemoteUnknown{tag, run, remote->place, remote->folder, remote->formerCommand};
}

bool exchangesFiles(const Command& command)
{
    return std::visit(
        []<class Asked>(const Asked& asked) {
            if constexpr (kIsOneOf<Asked, StartRun, ResumeRun>) {
                return true;
            } else if constexpr (kAtRemote<Asked> && requires { asked.of; }) {
                return !asked.of.projectDirectory.empty();
            } else {
                return false;
            }
        },
        command);
}

RemoteEngine::RemoteEngine(EngineRemote place, EventSink sink, std::function<void(Command)> post)
    : m_place(std::move(place)), m_sink(std::move(sink)), m_post(std::move(post))
{
}

void RemoteEngine::forget(const Command& command)
{
    std::map<RunId, std::shared_ptr<Run>>::node_type run; // ends its connection without the lock
    const std::scoped_lock lock(m_mutex);
    std::visit(
        [&]<class Asked>(const Asked& asked) {
            if constexpr (kBeginsRun<Asked>) {
                run = m_runs.extract(asked.run);
            } else if constexpr (requires { asked.tag; }) {
                m_unsent.erase(asked.tag);
                m_again.erase(asked.tag);
                m_knockouts.erase(asked.tag);
            }
        },
        command);
}

RemoteEngine::Translated RemoteEngine::toRemote(const Command& command, const RemoteLink& link)
{
    return std::visit(
        [&]<class Asked>(const Asked& asked) -> Translated {
            if constexpr (kIsOneOf<Asked, StartRun, ResumeRun>) {
                return translated(asked, link);
            } else if constexpr (kAtRemote<Asked> && requires { asked.of; }) {
                return translatedQuery(asked, link);
            } else {
                return std::optional(command);
            }
        },
        command);
}

RemoteEngine::Translated RemoteEngine::translated(const StartRun& command, const RemoteLink& link)
{
    ProjectFiles project = RESIDUA_TRY(projectFiles(command.project, command.projectDirectory, link.watch));
    RemoteFiles files = RESIDUA_TRY(openFiles(link));
    const fs::path folder = RESIDUA_TRY(files.sendProject(project, link.watch));
    StartRun there = command;
    there.project = std::move(project.project);
    there.projectDirectory = folder;
    there.runDirectory.clear();
    there.runFolder = kRemoteRuns;
    there.membership.reset(); // its study is on this machine
    const auto run = std::make_shared<Run>();
    run->start = command;
    run->renamed = std::move(project.renamed);
    run->files = std::move(files);
    const std::scoped_lock lock(m_mutex);
    m_runs[command.run] = run;
    return std::optional(Command(std::move(there)));
}

RemoteEngine::Translated RemoteEngine::translated(const ResumeRun& command, const RemoteLink& link)
{
    const auto run = std::make_shared<Run>();
    run->directory = command.of.runDirectory;
    Result<FileDescriptor> held = RunWriter::hold(command.of.runDirectory);
    const std::optional<RemoteRun> remote = remoteRunAt(command.of.runDirectory);
    if (!held || !remote) {
        return held ? Error{command.of.runDirectory.string(), "is not a run at " + m_place.name} : held.error();
    }
    run->held = *std::move(held);
    RemoteFiles files = RESIDUA_TRY(openFiles(link));
    const Result<RunFile> here = readRunFile(command.of.runDirectory);
    const RunFile file = RESIDUA_TRY(here ? catchUp(files, *remote, *here) : here.error());
    const RunInfo& info = file.info;
    if (info.status == RunStatus::Finished && here->info.status != RunStatus::Finished && !command.of.step &&
        command.steps.value_or(info.steps) <= info.step) {
        const Status concluded = conclude(command, std::move(run->held), file, link.answers);
        return concluded ? Translated(std::nullopt) : concluded.error();
    }
    run->files = std::move(files);
    Translated there = translatedQuery(command, link);
    if (there) {
        const std::scoped_lock lock(m_mutex);
        m_runs[command.run] = run;
    }
    return there;
}

/// Takes over the records of steps that were done there when the connection was lost. Returns run.json there.
Result<RunFile> RemoteEngine::catchUp(RemoteFiles& files, const RemoteRun& remote, const RunFile& here)
{
    Result<RunFile> there = files.readRun(remote.directory, true);
    if (there && !here.identity.empty() && there->identity != here.identity) {
        return Error{here.info.directory, "is another run than " + remote.directory.string() + " at " + m_place.name};
    }
    if (there && (here.info.step != there->info.step || here.info.status != there->info.status)) {
        RESIDUA_TRY(files.fetchStore(remote.directory, here.info.directory));
    }
    return there;
}

/// Ends a run here that has nothing left to do there.
Status RemoteEngine::conclude(const ResumeRun& command, FileDescriptor held, const RunFile& there,
                              const EventSink& answers)
{
    const RunInfo& info = there.info;
    RESIDUA_TRY(RunMirror::conclude(command.of.runDirectory, std::move(held), there));
    const Result<RunReader> reader = RunReader::open(command.of.runDirectory);
    const Result<projects::Project> project = reader ? reader->project() : reader.error();
    const auto cost = project ? projects::costOf(*project) : project.error();
    const auto units = reader ? reader->lastPoint(metric::kUnits, info.step) : std::nullopt;
    RunStarted started{command.run, command.of.runDirectory, info.step, info.steps, 0, info.device, 0};
    if (cost && units) {
        started.parameters = cost->total.parameters;
        started.unitsPerStep = static_cast<std::int64_t>(units->value) / std::max<std::int64_t>(info.step, 1);
        started.unit = projects::examplesOf(*project).unit();
    }
    answers(std::move(started));
    answers(RunEnded{command.run, RunStatus::Finished, info.step, {}});
    return Done{};
}

/// True if a query is for the run's own project, which the place has since the run began. Keeps the query for the case
/// that somebody has removed it there.
template <class Request>
bool RemoteEngine::hasProjectThere(const Request& request)
{
    if constexpr (std::is_same_v<Request, ResumeRun>) {
        return false; // the run records where its project is
    } else {
        const Result<fs::path> own = projectDirectoryOf(request.of.runDirectory);
        std::error_code code;
        const bool isOwn = own && fs::equivalent(*own, request.of.projectDirectory, code);
        const std::scoped_lock lock(m_mutex);
        if (!isOwn || request.of.otherData != OtherData::Refuse || m_again.contains(request.tag)) {
            return false;
        }
        m_unsent.insert_or_assign(request.tag, Command(request));
        return true;
    }
}

/// Posts a query again whose project was not sent, if it has failed there. Returns true if it has.
bool RemoteEngine::asksAgain(const Event& event)
{
    const std::optional<QueryTag> answered = answeredBy(event);
    if (!answered) {
        return false;
    }
    std::optional<Command> again;
    {
        const std::scoped_lock lock(m_mutex);
        const auto* const failed = std::get_if<QueryFailed>(&event);
        const auto unsent = m_unsent.extract(*answered);
        m_again.erase(*answered);
        if (failed != nullptr && failed->error.place != queryGivenUp().place && !unsent.empty()) {
            m_again.insert(*answered);
            again = std::move(unsent.mapped());
        }
    }
    if (again) {
        m_post(*std::move(again));
    }
    return again.has_value();
}

template <class Request>
RemoteEngine::Translated RemoteEngine::translatedQuery(const Request& request, const RemoteLink& link)
{
    const std::optional<RemoteRun> remote = remoteRunAt(request.of.runDirectory);
    if (!remote) {
        return Error{request.of.runDirectory.string(), "is not a run at " + m_place.name};
    }
    Request there = request;
    there.of.runDirectory = remote->directory;
    if (!request.of.projectDirectory.empty() && hasProjectThere(request)) {
        there.of.projectDirectory.clear();
    } else if (!request.of.projectDirectory.empty()) {
        Result<projects::Project> frozen = readRunProject(request.of.runDirectory);
        const Result<ProjectFiles> project =
            frozen ? projectFiles(*std::move(frozen), request.of.projectDirectory, link.watch) : frozen.error();
        RemoteFiles files = RESIDUA_TRY(project ? openFiles(link) : project.error());
        there.of.projectDirectory = RESIDUA_TRY(files.sendProject(*project, link.watch));
    }
    if constexpr (std::is_same_v<Request, KnockoutRequest>) {
        const std::scoped_lock lock(m_mutex);
        m_knockouts.insert_or_assign(request.tag, request);
    }
    return std::optional(Command(std::move(there)));
}

/// Keeps the result of a knock-out in the run's record here too, as the engine there does in the run. A result that may
/// be of other data than the run's is not kept. Adds a note to the answer if it cannot be kept.
void RemoteEngine::keepAnswer(Event& event)
{
    const std::optional<QueryTag> answered = answeredBy(event);
    std::optional<KnockoutRequest> asked;
    if (answered) {
        const std::scoped_lock lock(m_mutex);
        if (auto node = m_knockouts.extract(*answered); !node.empty()) {
            asked = std::move(node.mapped());
        }
    }
    auto* const ready = std::get_if<KnockoutReady>(&event);
    if (!asked || ready == nullptr || asked->of.otherData != OtherData::Refuse) {
        return;
    }
    asked->of.projectDirectory.clear(); // its data are the run's, or the query would have failed
    asked->of.step = ready->step;
    const std::optional<EffectsKey> key = effectsKeyOf(*asked);
    const Status kept = key ? keepEffects(asked->of.runDirectory, {*key, *ready}) : Status(Done{});
    if (!kept) {
        ready->notes.push_back("the result is not kept with the run's record here: " + kept.error().text());
    }
}

std::shared_ptr<RemoteEngine::Run> RemoteEngine::find(std::optional<RunId> id)
{
    const std::scoped_lock lock(m_mutex);
    const auto found = id ? m_runs.find(*id) : m_runs.end();
    return found == m_runs.end() ? nullptr : found->second;
}

bool RemoteEngine::takes(const Event& event)
{
    const std::optional<RunId> id = runIdOf(event);
    return !id || find(id);
}

bool RemoteEngine::fromRemote(Event event)
{
    const std::optional<RunId> id = runIdOf(event);
    const std::shared_ptr<Run> run = find(id); // which forget() may drop meanwhile
    if (!id) {
        if (!asksAgain(event) && std::visit([]<class Told>(const Told&) { return kFromRemote<Told>; }, event)) {
            keepAnswer(event);
            m_sink(std::move(event));
        }
        return true;
    }
    if (!run) {
        return false; // the directories of other runs are not of this machine
    }
    if (auto* const started = std::get_if<RunStarted>(&event)) {
        begin(*run, std::move(*started));
        return true;
    }
    const bool ended = std::holds_alternative<RunEnded>(event);
    record(*id, *run, std::move(event));
    if (ended) {
        const std::scoped_lock lock(m_mutex);
        m_runs.erase(*id);
    }
    return true;
}

Status RemoteEngine::makeMirror(Run& run, const RunStarted& started)
{
    const bool isNew = run.directory.empty();
    const fs::path name = started.runDirectory.filename();
    RESIDUA_TRY(checkBundledPath("the answer of " + m_place.name, name.string()));
    const RemoteRun remote{m_place.name, m_place.folder, fs::path(kRemoteRuns) / name};
    RunFile file = RESIDUA_TRY(run.files->readRun(remote.directory, false));
    if (file.data) {
        restoreNames(*file.data, run.renamed);
    }
    RunMirror mirror =
        RESIDUA_TRY(isNew ? RunMirror::begin(run.start, started, file, remote)
                          : RunMirror::resume(run.directory, std::move(run.held), started, file, remote));
    run.mirror.emplace(std::move(mirror));
    return Done{};
}

void RemoteEngine::begin(Run& run, RunStarted started)
{
    const Status made = makeMirror(run, started);
    run.files.reset();
    if (!made) {
        run.dropped = true;
        m_post(Stop{started.run});
        m_sink(RunEnded{started.run, RunStatus::Failed, started.firstStep, made.error()});
        return;
    }
    started.runDirectory = run.mirror->directory();
    m_sink(std::move(started));
}

void RemoteEngine::record(RunId id, Run& run, Event event)
{
    if (run.dropped) {
        return;
    }
    if (run.mirror) {
        const Status written = run.mirror->add(event);
        if (!written && run.unwritten.empty()) {
            m_sink(Notice{id, "the record on this machine waits in memory: " + written.error().text()});
        }
        if (!written) {
            run.unwritten = written.error().text();
        } else if (!run.mirror->isBuffered()) {
            run.unwritten.clear();
        }
        for (const std::string& note : run.mirror->takeNotes()) {
            m_sink(Notice{id, note});
        }
        if (auto* const checkpoint = std::get_if<CheckpointWritten>(&event)) {
            checkpoint->path = checkpointDirectory(run.mirror->directory(), checkpoint->step);
        }
        if (std::holds_alternative<Progress>(event) && run.mirror->isToStop()) {
            m_post(Stop{id});
        }
    }
    if (auto* const ended = std::get_if<RunEnded>(&event)) {
        ended->unrecorded = run.unwritten;
        run.mirror.reset(); // before others hear of the end, and use its directory
    }
    m_sink(std::move(event));
}

} // namespace residua::engine
