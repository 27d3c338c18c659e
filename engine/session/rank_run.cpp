// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/session/rank_run.h"

#include "engine/files/json_record.h"
#include "engine/queries/base/run_use.h"
#include "engine/runtime/failure.h"
#include "engine/session/memory_report.h"
#include "projects/base/text.h"
#include "projects/file/json.h"

#include <utility>

namespace residua::engine {
namespace {

std::string absoluteText(const std::filesystem::path& path)
{
    return path.empty() ? std::string() : std::filesystem::absolute(path).string();
}

/// A run that rank 0 calls the others to.
struct Call {
    projects::Project project;
    std::filesystem::path projectDirectory;
    std::string device;
    std::filesystem::path runDirectory;
    std::optional<std::int64_t> step; ///< of the checkpoint
    Reading reading;
};

/// Return the reading as a text for the other ranks, and back.
std::string textOf(const Reading& reading)
{
    return RecordJson::array({static_cast<std::int64_t>(reading.version), reading.classes})
        .dump(-1, ' ', false, RecordJson::error_handler_t::replace);
}

Reading readingFrom(const std::string& text)
{
    const RecordJson json = RecordJson::parse(text);
    return {static_cast<ReadingVersion>(json.at(0).get<std::int64_t>()), json.at(1).get<std::vector<std::string>>()};
}

Result<Call> hearCall(Ranks& ranks)
{
    Result<projects::Project> project = projects::projectFromJson(ranks.share({}));
    if (!project) {
        return project.error();
    }
    Call call{*std::move(project), {}, {}, {}, {}, {}};
    call.projectDirectory = ranks.share({});
    call.device = ranks.deviceFor(ranks.share({}));
    call.runDirectory = ranks.share({});
    call.step = numberFrom<std::int64_t>(ranks.share({}));
    call.reading = readingFrom(ranks.share({}));
    return call;
}

Status trainAlong(const FollowRun& command, Ranks& ranks, const EventSink& sink)
{
    const Result<Call> call = hearCall(ranks);
    if (!call) {
        return call.error();
    }
    PreparedRun run{call->project, call->projectDirectory, call->device};
    run.reading = call->reading;
    if (call->step) {
        Result<CheckpointFiles> checkpoint = findCheckpoint(call->runDirectory, call->step, nullptr);
        if (!checkpoint) {
            return checkpoint.error();
        }
        run.checkpoint = std::move(*checkpoint);
    }
    const Result<std::unique_ptr<Trainer>> trainer = makeTrainer(run, {});
    if (!trainer) {
        return trainer.error();
    }
    sink(RunStarted{command.run,
                    {},
                    (*trainer)->stepsDone(),
                    run.project.training.steps,
                    (*trainer)->parameterCount(),
                    run.device,
                    (*trainer)->unitsPerStep(),
                    (*trainer)->dataset().schema().unit()});
    for (std::string word = ranks.share({}); word == kRankStep || word == kRankStates; word = ranks.share({})) {
        if (word == kRankStates) {
            (*trainer)->sendStates();
            continue;
        }
        if (const auto stage = (*trainer)->beginStage(); !stage) {
            return stage.error();
        }
        if (const Status stepped = (*trainer)->step(); !stepped) {
            return stepped;
        }
        (void)(*trainer)->takeRecords();
    }
    return Done{};
}

} // namespace

Result<std::unique_ptr<Trainer>> makeTrainer(const PreparedRun& run, const PreparationWatches& watches)
{
    if (const Status valid = checkProject(run.project); !valid) {
        return valid.error();
    }
    const Result<Ranks*> ranks = Ranks::ofProcess();
    if (!ranks) {
        return ranks.error();
    }
    Result<std::unique_ptr<Trainer>> made = Error{};
    const auto failure = attempt([&] {
        const FirstWeights weights = run.checkpoint ? FirstWeights::Loaded : FirstWeights::Initialised;
        Result<TrainerParts> parts =
            openParts(run.project, run.projectDirectory, run.device, weights, watches, run.reading);
        if (!parts) {
            made = parts.error();
            return;
        }
        auto trainer = std::make_unique<Trainer>(std::move(*parts), *ranks);
        const Status loaded = run.checkpoint ? trainer->restore(*run.checkpoint) : Status(Done{});
        made = loaded ? Result<std::unique_ptr<Trainer>>(std::move(trainer)) : loaded.error();
    });
    if (failure) {
        return describe(*failure, run.project, run.device);
    }
    return made;
}

Result<std::string> callRanks(const PreparedRun& run)
{
    const Result<Ranks*> ranks = Ranks::ofProcess();
    if (!ranks || *ranks == nullptr) {
        return ranks ? Result<std::string>(run.device) : ranks.error();
    }
    if ((*ranks)->rank() > 0) {
        return Error{"rank " + std::to_string((*ranks)->rank()),
                     "trains along with rank 0 under train and resume only"};
    }
    if (const Status shared = checkShares(run.project.training, (*ranks)->count()); !shared) {
        return shared.error();
    }
    const auto failure = attempt([&] {
        (void)(*ranks)->share(projects::toJson(run.project));
        (void)(*ranks)->share(absoluteText(run.projectDirectory));
        (void)(*ranks)->share(run.device);
        (void)(*ranks)->share(absoluteText(run.runDirectory));
        (void)(*ranks)->share(run.checkpoint ? std::to_string(run.checkpoint->state.step) : std::string());
        (void)(*ranks)->share(textOf(run.reading));
    });
    if (failure) {
        return Error{"ranks", failure->text};
    }
    return (*ranks)->deviceFor(run.device);
}

void followRanks(const FollowRun& command, const EventSink& sink)
{
    Status status = Done{};
    std::string name = "ranks";
    const auto failure = attempt([&] {
        const Result<Ranks*> ranks = Ranks::ofProcess();
        if (!ranks || *ranks == nullptr) {
            status = ranks ? Error{name, "this process is not one of several: start it with torchrun"} : ranks.error();
            return;
        }
        name = "rank " + std::to_string((*ranks)->rank());
        status = trainAlong(command, **ranks, sink);
    });
    if (failure) {
        status = Error{name, failure->text};
    }
    sink(RunEnded{command.run, status ? RunStatus::Finished : RunStatus::Failed, 0, status ? Error{} : status.error()});
}

} // namespace residua::engine
