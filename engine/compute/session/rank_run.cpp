// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/session/rank_run.h"

#include "engine/compute/queries/base/run_use.h"
#include "engine/compute/runtime/cuda_backend.h"
#include "engine/compute/session/training_loop.h"
#include "engine/data/sets/fingerprint.h"
#include "engine/link/wire/values.h"
#include "projects/base/text.h"
#include "projects/diff/diff.h"
#include "projects/transfer/retrofit.h"

#include <algorithm>
#include <utility>
#include <vector>

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

/// Return a value as a text for the other ranks, and back. All are of one build.
template <class T>
std::string sharedText(const T& value)
{
    std::string numbers;
    return encoded(value, numbers).dump() + '\0' + numbers;
}

template <class T>
Result<T> valueFrom(const std::string& text)
{
    const std::size_t end = std::min(text.find('\0'), text.size());
    return readMessage<T>({text.substr(0, end), text.substr(std::min(end + 1, text.size()))});
}

/// Checks that all ranks are of one build, before they exchange anything else.
Status checkBuild(Ranks& ranks)
{
    const auto differing = ranks.compare(buildIdentity());
    return differing ? Error{"ranks", "rank " + std::to_string(differing->rank) + " is of the build " +
                                          differing->other + ", expected that of rank 0, " + differing->first +
                                          ": install one version on all machines"}
                     : Status(Done{});
}

Result<Call> hearCall(Ranks& ranks)
{
    RESIDUA_TRY(checkBuild(ranks));
    Call call = RESIDUA_TRY(valueFrom<Call>(ranks.share({})));
    call.device = ranks.deviceFor(call.device);
    return call;
}

/// Returns what this process was given otherwise than rank 0, whose values count. Remarks do not matter.
std::vector<std::string> givenOtherwise(const FollowRun& given, const Call& call)
{
    std::vector<std::string> texts;
    const auto compare = [&](const std::string& what, const std::string& own, const std::string& first) {
        if (!own.empty() && own != first) {
            texts.push_back(what + " " + own + ", rank 0 " + first);
        }
    };
    if (given.project) {
        std::vector<projects::Change> changes = projects::diff(call.project, *given.project);
        std::erase_if(changes, [](const auto& change) { return change.part == projects::ChangedPart::Remark; });
        if (!changes.empty()) {
            const projects::Change& change = changes.front();
            const auto orNone = [](const std::string& text) { return text.empty() ? std::string("none") : text; };
            compare(change.placeText(), orNone(change.after), orNone(change.before));
        }
        if (changes.size() > 1) {
            texts.push_back("and " + countText(changes.size() - 1, "further difference"));
        }
    }
    compare("steps", given.steps ? std::to_string(*given.steps) : "", std::to_string(call.project.training.steps));
    compare("--run", absoluteText(given.runDirectory),
            call.runDirectory.empty() ? absoluteText(given.runDirectory) : call.runDirectory.string());
    compare("--device", given.device.empty() ? "" : given.device.substr(0, given.device.find(':')),
            call.device.substr(0, call.device.find(':')));
    return texts;
}

Status trainAlong(const FollowRun& command, Ranks& ranks, const EventSink& sink, const std::function<bool()>& wanted)
{
    const Call call = RESIDUA_TRY(hearCall(ranks));
    if (const std::vector<std::string> given = givenOtherwise(command, call); !given.empty()) {
        sink(Notice{command.run, "rank " + std::to_string(ranks.rank()) +
                                     " was given other values than rank 0, which "
                                     "count: " +
                                     joinedText(given, "; ")});
    }
    PreparedRun run{call.project, call.projectDirectory, call.device};
    run.reading = call.reading;
    if (call.step) {
        run.checkpoint = RESIDUA_TRY(findCheckpoint(call.runDirectory, call.step, nullptr));
    }
    const auto watch = [&](double) { return wanted() && !ranks.refused(); };
    const std::unique_ptr<Trainer> trainer = RESIDUA_TRY(makeTrainer(run, {watch, watch, watch}));
    const LargeFiles large = ranks.local() == 0 ? LargeFiles::EveryByte : LargeFiles::AsKnown; // once on a machine
    const DataFingerprint data =
        RESIDUA_TRY(fingerprintOf(run.project, run.projectDirectory, watch, large, run.reading.version));
    RESIDUA_TRY(checkData(data, &ranks));
    sink(RunStarted{command.run,
                    {},
                    trainer->stepsDone(),
                    run.project.training.steps,
                    trainer->parameterCount(),
                    run.device,
                    trainer->unitsPerStep(),
                    trainer->dataset().schema().unit()});
    const auto isTraining = [](const std::string& word) {
        return word == kRankStep || word == kRankStates || word == kRankValues;
    };
    for (std::string word = ranks.share({}); isTraining(word); word = ranks.share({})) {
        ranks.noteStep();
        if (word != kRankStep) {
            word == kRankStates ? trainer->sendStates() : trainer->completeValues();
            continue;
        }
        RESIDUA_TRY(trainer->beginStage());
        RESIDUA_TRY(trainer->step());
        (void)trainer->takeRecords();
    }
    return Done{};
}

/// Returns this process's rank, or 0 if it trains alone.
int ownRank()
{
    const Result<std::optional<RankPosition>> place = rankPosition();
    return place && *place ? (*place)->rank : 0;
}

/// Checks the project, and that a run without a checkpoint has all its values.
Status checkRun(const PreparedRun& run)
{
    RESIDUA_TRY(checkProject(run.project));
    const auto missing = run.checkpoint ? std::nullopt : projects::missingCheckpoint(run.project);
    return missing ? Status(*missing) : Status(Done{});
}

} // namespace

std::string ownRankRefused(const Error& error)
{
    return "rank " + std::to_string(ownRank()) + " does not train: " + error.text();
}

Result<std::unique_ptr<Trainer>> makeTrainer(const PreparedRun& run, const PreparationWatches& watches)
{
    RESIDUA_TRY(checkRun(run));
    Ranks* const ranks = RESIDUA_TRY(Ranks::ofProcess());
    Result<std::unique_ptr<Trainer>> made = Error{};
    const auto failure = attempt([&] {
        const FirstWeights weights = run.checkpoint ? FirstWeights::Loaded : FirstWeights::Initialised;
        Result<TrainerParts> parts =
            openParts(run.project, run.projectDirectory, run.device, weights, watches, run.reading);
        if (!parts) {
            made = parts.error();
            return;
        }
        auto trainer = std::make_unique<Trainer>(std::move(*parts), ranks);
        const Status loaded = run.checkpoint ? trainer->restore(*run.checkpoint) : Status(Done{});
        made = loaded ? Result<std::unique_ptr<Trainer>>(std::move(trainer)) : loaded.error();
    });
    if (failure) {
        return describe(*failure, run.project, run.device);
    }
    return made;
}

Result<std::string> callRanks(const PreparedRun& run, const PreparationWatch& watch)
{
    const Result<std::optional<RankPosition>> place = rankPosition();
    if (!place || !*place) {
        return place ? Result<std::string>(run.device) : place.error();
    }
    if ((*place)->rank > 0) {
        return Error{"rank " + std::to_string((*place)->rank), "trains along with rank 0 under train and resume only"};
    }
    // Before the others are waited for.
    RESIDUA_TRY(checkRun(run));
    RESIDUA_TRY(checkShares(run.project, (*place)->count));
    Ranks* const ranks = RESIDUA_TRY(Ranks::ofProcess(watch));
    Status status = Done{};
    const auto failure = attempt([&] {
        if (status = checkBuild(*ranks); !status) {
            return;
        }
        const auto step = run.checkpoint ? std::optional(run.checkpoint->state.step) : std::nullopt;
        (void)ranks->share(sharedText(Call{run.project, absoluteText(run.projectDirectory), run.device,
                                           absoluteText(run.runDirectory), step, run.reading}));
    });
    if (failure) {
        return Error{"ranks", failure->text};
    }
    return status ? Result<std::string>(ranks->deviceFor(run.device)) : status.error();
}

Status checkData(const DataFingerprint& data, Ranks* ranks)
{
    if (ranks == nullptr) {
        return Done{};
    }
    const auto differenceIn = [](const std::string& first, const std::string& other) {
        return differenceOf(valueFrom<DataFingerprint>(first).value(), valueFrom<DataFingerprint>(other).value());
    };
    std::optional<Ranks::Disagreement> differing;
    const auto agrees = [&](const auto& first, const auto& other) { return !differenceIn(first, other); };
    if (const auto failure = attempt([&] { differing = ranks->compare(sharedText(data), agrees); })) {
        return Error{"ranks", failure->text};
    }
    return differing ? Error{"ranks", "rank " + std::to_string(differing->rank) + " has other data than rank 0: " +
                                          differenceIn(differing->first, differing->other)->text() +
                                          "; copy the files of rank 0 to its machine"}
                     : Status(Done{});
}

PreparationWatches heedingRanks(const PreparationWatches& watches)
{
    const auto heeding = [](const PreparationWatch& watch) -> PreparationWatch {
        return [watch](double share) {
            const Ranks* const ranks = Ranks::joinedOfProcess();
            const bool isOver = ranks != nullptr && (ranks->stopAsked() || ranks->refused());
            return !isOver && (!watch || watch(share));
        };
    };
    return {heeding(watches.data), heeding(watches.weights), watches.ranks};
}

Error refusedToRanks(const Error& error)
{
    Ranks* const ranks = Ranks::joinedOfProcess();
    if (ranks == nullptr) {
        Ranks::refuseOfProcess(ownRankRefused(error));
        return error;
    }
    std::optional<std::string> heard = ranks->refused();
    if (const auto stopped = ranks->stopAsked(); !heard && stopped) {
        heard = *stopped + " before the first step";
    }
    ranks->refuse(heard ? *heard : ownRankRefused(error));
    return heard ? Error{"ranks", *heard} : error;
}

void followRanks(const FollowRun& command, const EventSink& sink, const std::function<bool()>& wanted,
                 const PreparationWatch& watch)
{
    Status status = Done{};
    std::string name = "ranks";
    Ranks* joined = nullptr;
    const auto failure = attempt([&] {
        const Result<Ranks*> ranks = Ranks::ofProcess(watch);
        if (!ranks || *ranks == nullptr) {
            status = ranks ? Error{name, "this process is not one of several: start it with torchrun"} : ranks.error();
            return;
        }
        joined = *ranks;
        name = "rank " + std::to_string(joined->rank());
        joined->setWanted(wanted);
        status = trainAlong(command, *joined, sink, wanted);
        if (const auto heard = joined->refused(); !status && heard) {
            status = Error{name, *heard};
        }
    });
    if (failure) {
        status = Error{name, failure->text};
    }
    if (joined != nullptr) {
        joined->setWanted({});
    }
    const bool isStopped = !wanted();
    if (!status && joined != nullptr) {
        joined->refuse(isStopped ? name + " was asked to stop before the first step" : ownRankRefused(status.error()));
    }
    const RunStatus ended = isStopped ? RunStatus::Stopped : status ? RunStatus::Finished : RunStatus::Failed;
    sink(RunEnded{command.run, ended, 0, status || isStopped ? Error{} : status.error()});
}

} // namespace residua::engine
