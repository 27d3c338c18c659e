// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/data_argument.h"
#include "app/cli/arguments/project_argument.h"
#include "app/cli/arguments/request_arguments.h"
#include "app/cli/commands/commands.h"
#include "app/cli/runs/run_monitor.h"
#include "app/cli/terminal/terminal_text.h"
#include "engine/base/api/environment.h"
#include "engine/base/api/rank_position.h"
#include "engine/runs/results/loss_measures.h"
#include "engine/runs/results/run_reader.h"
#include "projects/base/text.h"
#include "projects/check/validate.h"
#include "projects/diff/diff.h"
#include "projects/file/store.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace residua::cli {
namespace {

bool hasAllSteps(const engine::RunInfo& info, std::int64_t steps)
{
    return info.status == engine::RunStatus::Finished && info.step >= steps;
}

/// On another rank than 0: trains along with rank 0, which alone reports. `isComplete` says whether rank 0 will find
/// the run complete and not call the others.
std::optional<Exit> trainAlong(engine::FollowRun command, const Arguments& arguments, const Computing& computing,
                               const Console& console, bool isComplete)
{
    const std::optional<engine::RankPosition> place = RESIDUA_TRY_OR_FAIL(Exit::Usage, engine::rankPosition());
    if (!place || (place)->rank == 0) {
        return std::nullopt;
    }
    if (isComplete) {
        return Exit::Complete;
    }
    command.run = kRun;
    command.device = arguments.text("device");
    const RunOutcome outcome = follow(command, console, Show::Nothing, computing);
    if (outcome.ended.hasFailed()) {
        return console.fail(Exit::RunFailed, outcome.ended.error);
    }
    return outcome.ended.status == engine::RunStatus::Stopped && !outcome.trained
               ? console.fail(Exit::Quit, {"", "interrupted before the training began"})
               : Exit::Ok;
}

/// Reports that this process does not train, and ends the other ranks that wait for it, if there are any. They report
/// `reason`, or else the error.
Exit refuse(Exit code, const Error& error, const Computing& computing, const Console& console,
            const std::optional<Error>& reason = std::nullopt)
{
    const Exit exit = console.fail(code, error);
    if (const auto place = engine::rankPosition(); place && *place) {
        (void)follow(engine::RefuseRanks{kRun, reason.value_or(error)}, console, Show::Nothing, computing);
    }
    return exit;
}

/// Reports that another process trains the run, as `what` says.
void tellInBackground(const std::filesystem::path& run, const std::string& what, const Console& console)
{
    const std::string word = shellWord(run.string());
    console.line(what + "; follow it with: residua-cli watch " + word + ", stop it with: residua-cli stop " + word);
}

/// Reports how a run ended and how to resume it.
Exit conclude(const RunOutcome& outcome, const projects::Project& project, const Console& console)
{
    const std::string directory = outcome.started.runDirectory.string();
    if (outcome.left) {
        tellInBackground(directory, "training in the background", console);
        return Exit::Ok;
    }
    if (!outcome.ended.unrecorded.empty()) {
        return console.fail(
            Exit::Unrecorded,
            {directory, std::string("the run is ") + engine::textOf(outcome.ended.status) +
                            " where it trains, at step " + groupedText(outcome.ended.step) +
                            ", but its record on this machine is incomplete: " + outcome.ended.unrecorded +
                            ". Make room, then complete it with: " + "residua-cli resume " + shellWord(directory)});
    }
    if (outcome.ended.hasFailed()) {
        const Exit code = console.fail(Exit::RunFailed, outcome.ended.error);
        if (outcome.checkpointStep >= 0) {
            console.remark("go on from the checkpoint of step " + std::to_string(outcome.checkpointStep) +
                           " with: residua-cli resume " + shellWord(directory));
        }
        return code;
    }
    if (outcome.ended.status == engine::RunStatus::Stopped) {
        return concludeStopped(outcome, "go on with: residua-cli resume " + shellWord(directory), console);
    }
    console.line("finished: " + resultText(outcome.last, &project));
    const std::filesystem::path checkpoint =
        engine::checkpointDirectory(outcome.started.runDirectory, outcome.checkpointStep);
    std::error_code ignored;
    console.line(std::filesystem::exists(checkpoint, ignored)
                     ? "checkpoint " + checkpoint.string()
                     : "the checkpoints are where it was trained; fetch the last one with: residua-cli fetch " +
                           shellWord(directory));
    return Exit::Ok;
}

RunOutcome trainNew(const projects::Project& project, const std::filesystem::path& projectDirectory,
                    const Arguments& arguments, const Computing& computing, const Console& console)
{
    const std::filesystem::path folder = arguments.text("runs", (projectDirectory / projects::kRunsFolder).string());
    const std::string named = arguments.text("run");
    engine::StartRun command;
    command.run = kRun;
    command.project = project;
    command.projectDirectory = pathFor(computing, projectDirectory.empty() ? "." : projectDirectory);
    command.runDirectory = pathFor(computing, named);
    command.runFolder = pathFor(computing, folder);
    command.device = arguments.text("device", "cpu");
    return follow(command, console, Show::Progress, computing);
}

std::string differenceText(const projects::Change& change)
{
    const auto orElse = [](const std::string& text, const char* none) { return text.empty() ? none : text; };
    return change.placeText() + ": got " + orElse(change.after, "none") + ", expected " + orElse(change.before, "none");
}

/// Returns the differences that affect the training. A name, a description and sweeps do not.
std::vector<projects::Change> trainedOtherwise(const projects::Project& frozen, const projects::Project& project)
{
    std::vector<projects::Change> changes = projects::diff(frozen, project);
    std::erase_if(changes, [](const projects::Change& change) { return change.part == projects::ChangedPart::Remark; });
    return changes;
}

/// Checks that the project is the run's own, except for remarks and the number of steps, which may be higher: the run
/// keeps its original schedule. `written` is the document without the command's steps.
Status sameProject(const projects::Project& frozen, projects::Project written, const std::filesystem::path& run)
{
    projects::Project stretched = written;
    const Status planned = trainFor(stretched, frozen.training.steps);
    written.training.steps = frozen.training.steps;
    stretched = planned ? stretched : written;
    const std::vector<projects::Change> asWritten = trainedOtherwise(frozen, written);
    const std::vector<projects::Change> asStretched = trainedOtherwise(frozen, stretched);
    const std::vector<projects::Change>& changes = asStretched.size() < asWritten.size() ? asStretched : asWritten;
    if (changes.empty()) {
        return Done{};
    }
    const std::string more = changes.size() > 1 ? " (and " + std::to_string(changes.size() - 1) + " more)" : "";
    return Error{run.string(), "holds a run of another project: " + differenceText(changes.front()) + more +
                                   "; choose another directory with --run"};
}

/// A run on disk. Its store is closed again, so that the process that writes it is the last to close it.
struct FoundRun {
    projects::Project project;
    engine::RunInfo info;
};

Result<FoundRun> runAt(const std::filesystem::path& directory)
{
    const engine::RunReader reader = RESIDUA_TRY(engine::RunReader::open(directory));
    projects::Project project = RESIDUA_TRY(reader.project());
    engine::RunInfo info = RESIDUA_TRY(reader.info());
    return FoundRun{std::move(project), std::move(info)};
}

Exit tellComplete(const std::filesystem::path& run, const engine::RunInfo& info, const Console& console)
{
    console.line("complete: all " + groupedText(info.step) + " steps are done in " + run.string() +
                 "; --steps raises their number");
    console.value({{"event", "complete"}, {"run", run.string()}, {"step", info.step}});
    return Exit::Complete;
}

/// Resumes a run. Another process may complete it after this one has read it and before its engine locks it: the run is
/// then reported as complete, as it would have been a moment later.
Exit resumeUnlessComplete(const engine::ResumeRun& command, const projects::Project& project,
                          const Computing& computing, const Console& console)
{
    const RunOutcome outcome = follow(command, console, Show::Progress, computing);
    if (!outcome.began() && outcome.ended.hasFailed()) {
        const Result<FoundRun> found = runAt(command.of.runDirectory);
        if (found && hasAllSteps(found->info, command.steps.value_or(found->info.steps))) {
            return tellComplete(command.of.runDirectory, found->info, console);
        }
    }
    return conclude(outcome, project, console);
}

/// Resumes the run of --run up to the project's steps, or reports that it has them all. `written` as in sameProject().
Exit trainOn(const projects::Project& project, const projects::Project& written,
             const std::filesystem::path& projectDirectory, const Arguments& arguments, const Computing& computing,
             const Console& console)
{
    engine::ResumeRun command;
    command.run = kRun;
    command.of = runFrom(arguments);
    command.of.runDirectory = arguments.text("run");
    command.of.projectDirectory = projectDirectory;
    setPaths(command.of, computing);
    command.steps = project.training.steps;
    const Result<FoundRun> found = runAt(command.of.runDirectory);
    if (!found) {
        return refuse(Exit::RunFailed, found.error(), computing, console);
    }
    const engine::RunInfo& info = found->info;
    if (const Status same = sameProject(found->project, written, command.of.runDirectory); !same) {
        return refuse(Exit::RunFailed, same.error(), computing, console);
    }
    if (hasAllSteps(info, project.training.steps)) {
        return tellComplete(command.of.runDirectory, info, console);
    }
    if (computing.detach && (info.status == engine::RunStatus::Running || info.status == engine::RunStatus::Paused)) {
        tellInBackground(command.of.runDirectory, "a process trains it already", console);
        console.value({{"event", "running"}, {"run", command.of.runDirectory.string()}, {"step", info.step}});
        return Exit::Ok;
    }
    command.device = arguments.text("device", info.device);
    return resumeUnlessComplete(command, project, computing, console);
}

Exit runTrain(const Arguments& arguments, const Console& console)
{
    Computing computing = Computing::from(arguments);
    RESIDUA_TRY_OR_FAIL(Exit::Usage, readPlace(computing, arguments));
    const bool mayResume = arguments.has("resume-or-start");
    if (mayResume && !arguments.has("run")) {
        return console.fail(Exit::Usage, {"", "--resume-or-start needs --run DIR: the directory of the run"});
    }
    ValueOr<NamedProject, Refusal> named = openProject(arguments, console);
    if (!named) {
        // The machine of another rank need not have the project, because rank 0 sends it.
        const std::optional<Exit> along = trainAlong({}, arguments, computing, console, false);
        return along ? *along : refuse(named.error().code, named.error().error, computing, console);
    }
    auto& [document, directory] = *named;
    projects::Project& project = document.project;
    project.training.keepCheckpoints = arguments.integer("keep-checkpoints", project.training.keepCheckpoints);
    project.training.keepEvery = arguments.integer("keep-every", project.training.keepEvery);
    project.training.keepBest = arguments.integer("keep-best", project.training.keepBest);
    const projects::Project written = project;
    const Status planned = trainFor(project, arguments.integer("steps", project.training.steps));
    // A directory without a run file was left by a process that was killed at its start; the new run uses it.
    const auto isRun = [file = std::filesystem::path(arguments.text("run")) / engine::kRunFile] {
        std::error_code ignored;
        return std::filesystem::exists(file, ignored);
    };
    const auto isComplete = [&] {
        const Result<FoundRun> found = runAt(arguments.text("run"));
        return found && hasAllSteps(found->info, project.training.steps);
    };
    engine::FollowRun given;
    given.project = planned ? std::optional(project) : std::nullopt;
    given.runDirectory = arguments.text("run");
    if (const auto exit = trainAlong(given, arguments, computing, console, mayResume && isRun() && isComplete())) {
        return *exit;
    }
    if (!planned) {
        return refuse(Exit::InvalidProject, planned.error(), computing, console);
    }
    if (const auto error = obstacle(project, console)) {
        const projects::Problem first = projects::validate(project).front(); // errors come first
        return refuse(Exit::InvalidProject, *error, computing, console, Error{first.place, first.message});
    }
    if (mayResume && isRun()) {
        return trainOn(project, written, directory, arguments, computing, console);
    }
    const RunOutcome outcome = trainNew(project, directory, arguments, computing, console);
    const bool refused = !outcome.began() && outcome.ended.hasFailed();
    if (mayResume && refused && isRun()) { // another process with the same command was faster
        return trainOn(project, written, directory, arguments, computing, console);
    }
    return conclude(outcome, project, console);
}

/// Writes a note if another number of steps changes the learning rate of the step after `step`.
void noteRate(const projects::Project& project, std::int64_t step, std::int64_t steps, const Console& console)
{
    constexpr double kJump = 0.01; // relative
    const auto& schedule = project.stack().schedule;
    projects::TrainingPlan plan = project.training;
    const double before = projects::learningRateAt(plan, schedule, std::min(step + 1, plan.steps));
    plan.steps = steps;
    const double after = projects::learningRateAt(plan, schedule, step + 1);
    if (step < steps && std::abs(after - before) > kJump * std::max(before, after)) {
        console.remark("note: the learning rate follows its curve over " + groupedText(steps) +
                       " steps now: " + lossText(after) + " from step " + groupedText(step + 1) + " on, " +
                       lossText(before) + " by its curve before");
    }
}

Exit runResume(const Arguments& arguments, const Console& console)
{
    Computing computing = Computing::from(arguments);
    RESIDUA_TRY_OR_FAIL(Exit::Usage, readPlace(computing, arguments));
    engine::ResumeRun command;
    command.run = kRun;
    command.of = runFrom(arguments);
    const Result<FoundRun> found = runAt(command.of.runDirectory);
    const bool asItWas = !arguments.has("steps") && !arguments.has("from");
    const bool isComplete = found && asItWas && hasAllSteps(found->info, found->info.steps);
    engine::FollowRun given;
    given.runDirectory = command.of.runDirectory;
    given.steps = arguments.integer("steps");
    if (const auto exit = trainAlong(given, arguments, computing, console, isComplete)) {
        return *exit;
    }
    if (!found) {
        return refuse(Exit::RunFailed, found.error(), computing, console);
    }
    const engine::RunInfo& info = found->info;
    if (isComplete) {
        return tellComplete(command.of.runDirectory, info, console);
    }
    setPaths(command.of, computing);
    command.device = arguments.text("device", info.device);
    command.steps = arguments.integer("steps");
    noteRate(found->project, command.of.step.value_or(info.step), command.steps.value_or(info.steps), console);
    if (asItWas) {
        return resumeUnlessComplete(command, found->project, computing, console);
    }
    return conclude(follow(command, console, Show::Progress, computing), found->project, console);
}

} // namespace

std::vector<Command> runCommands()
{
    return {
        {"train",
         "train a project in a new run",
         "residua-cli train my-project --steps 20 --run my-project/runs/first",
         {{projectArgument()},
          {fieldOption("/training/steps", "steps", "N", "steps in all (default: the project's)"),
           setOption(),
           {"runs", OptionKind::Text, "DIR", "folder of the new run (default: PROJECT/runs)"},
           {"run", OptionKind::Text, "DIR", "the run's own directory, new or empty but with:"},
           {"resume-or-start", OptionKind::Flag, "",
            "go on with the run in --run DIR where there is one, so that the same command may be called again and "
            "again"},
           fieldOption("/training/keep_checkpoints", "keep-checkpoints", "N",
                       "keep the newest N checkpoints and remove older ones; 0 keeps all (default: the project's "
                       "rule)"),
           fieldOption("/training/keep_every", "keep-every", "N", "keep the checkpoints of every N steps too"),
           fieldOption("/training/keep_best", "keep-best", "N", "keep the N of least validation loss too"),
           runOption("other-data"),
           timeLimitOption(),
           placeOption(),
           folderOption(),
           detachOption(),
           deviceOption(),
           threadsOption()}},
         &runTrain,
         Yields::Files},
        {"resume",
         "go on with a run from its last checkpoint",
         "residua-cli resume my-project/runs/first --steps 30",
         {{{"RUN", "a run's directory"}},
          {fieldOption("/training/steps", "steps", "N",
                       "a new total of steps; with fewer than were planned, the learning rate is planned anew for them "
                       "from the resumed step on"),
           {"from", OptionKind::Integer, "STEP", "the checkpoint of this step; what came after it is dropped", {}, 0},
           runOption("project"),
           runOption("other-data"),
           timeLimitOption(),
           placeOption(),
           folderOption(),
           detachOption(),
           deviceOption(),
           threadsOption()}},
         &runResume,
         Yields::Files},
    };
}

} // namespace residua::cli
