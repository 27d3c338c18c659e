// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/export_format.h"
#include "engine/base/api/reading.h"
#include "engine/base/api/tokeniser_training.h"
#include "engine/base/api/values.h"
#include "projects/model/project.h"
#include "projects/nodes/alteration.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

// The commands that a session executes.
namespace residua::engine {

/// The action if a run's data have another fingerprint than the data that it was trained on.
enum class OtherData {
    Refuse, ///< fails, naming the expected and the found data
    Accept, ///< adds a note; a run that trains or is made records an event
};

/// A run, the data that a command uses it with, and a checkpoint of it.
struct RunRef {
    std::filesystem::path runDirectory;
    std::filesystem::path projectDirectory = {}; ///< relative data paths start here; empty: as recorded in the run
    OtherData otherData = OtherData::Refuse;
    std::optional<std::int64_t> step = {}; ///< default: the last checkpoint
};

/// Trains `project`. A copy of it is frozen in the run's directory.
struct StartRun {
    RunId run{};
    projects::Project project;
    std::filesystem::path projectDirectory; ///< relative data paths start here
    /// The directory must not exist or must be empty, apart from the remains of a run that was interrupted before it
    /// began. If empty, the run gets a new directory in `runFolder` when it begins, which RunStarted reports.
    std::filesystem::path runDirectory;
    std::filesystem::path runFolder;
    std::string device = "cpu";
    std::int64_t pauseAfter = 0; ///< pauses after this many steps (Step on a new run); 0: never
    /// The sweep's member that this run trains, or nullopt. The run of a member is named project.name.
    std::optional<projects::Membership> membership = std::nullopt;
    bool waitsForDisk = false;  ///< if the run cannot be written, it pauses instead of failing (RunPaused::error)
    std::int64_t stopAfter = 0; ///< stops after this step, with a checkpoint; 0: never
};
/// Resumes from a checkpoint, or from step 0 if no checkpoint exists. Drops the records after it.
struct ResumeRun {
    RunId run{};
    RunRef of; ///< projectDirectory, unless it is empty, replaces the one recorded in the run
    std::string device = "cpu";
    std::optional<std::int64_t> steps; ///< a new total of steps
    bool waitsForDisk = false;         ///< as in StartRun
    std::int64_t stopAfter = 0;        ///< as in StartRun
};
/// On another rank than 0 of those that train together (rankPosition): trains along until rank 0's run ends. Stop asks
/// rank 0 to stop the run; other commands wait for its end.
struct FollowRun {
    RunId run{};
    /// The values that this process was given; those that differ from rank 0's, which count, are told. Empty: not
    /// given.
    std::optional<projects::Project> project;
    std::filesystem::path runDirectory;
    std::string device;
    std::optional<std::int64_t> steps; ///< in place of a project
};
/// On any of those ranks: ends the others, because this process does not train. Answers RunEnded with the error.
struct RefuseRanks {
    RunId run{};
    Error error;
};
struct Pause {
    RunId run{};
};
struct Continue {
    RunId run{};
};
/// Trains for `steps` steps, then pauses.
struct Step {
    RunId run{};
    std::int64_t steps = 1;
};
/// Ends the run at the next step boundary, after writing a checkpoint.
struct Stop {
    RunId run{};
};
struct WriteCheckpoint {
    RunId run{};
};
struct ListDevices {
    using Answer = struct DevicesListed;
    QueryTag tag{};
};

/// The maximum number of tokens in a sample, which are held in memory until it is complete.
inline constexpr std::int64_t kMostSampledTokens = 10'000'000;
/// The number of candidates for a masked position unless SampleRequest::topK gives one.
inline constexpr std::int64_t kCandidates = 5;
/// Continues `prompt` with the language model of a checkpoint. A model of masked tokens instead gives candidates for
/// each "[MASK]" in the prompt, and a classifier the classes of the prompt, or without one of the first examples that
/// are held out. Both ignore `tokens`, `temperature` and `seed`.
struct SampleRequest {
    using Answer = struct SampleReady;
    QueryTag tag{};
    RunRef of;
    std::string prompt; ///< text, ids separated by spaces where the data has no tokeniser, or of pictures an absolute
                        ///< path; empty: the data's beginning
    std::int64_t tokens = 200;
    double temperature = 0.8; ///< 0: greedy
    std::int64_t topK = 0;    ///< 0: off. For candidates it is their number; 0: kCandidates
    std::int64_t seed = 1;
};
/// Computes the mean loss on a part of the data.
struct EvaluateRequest {
    using Answer = struct EvaluationReady;
    QueryTag tag{};
    RunRef of;
    Split split = Split::Validation;
    std::int64_t batches = 0; ///< 0: all
};
/// Makes `newRun` (as StartRun's directory; empty: a new one beside the run) that continues from a checkpoint under
/// `topology`, or under the run's own without some shortcuts and layers. Keeps the remaining weights with their
/// optimiser state; new parameters start afresh. Blocks whose attention has separate inputs in the topology get its
/// ports. ResumeRun trains the new run.
///
/// Unless `measured`, the new run at first computes the same function, and the request is refused with the reason if it
/// would not. If `measured`, weights and moments are kept by name, and of tensors with a row for each shortcut or
/// module by row; the answer has the loss before and after.
struct RetrofitRequest {
    using Answer = struct RetrofitReady;
    QueryTag tag{};
    RunRef of;
    projects::Topology topology; ///< not used if `prune` or `ties` is given
    std::string prune;           ///< parts to leave out (projects/transfer/prune.h); implies `measured`
    /// "untie", or layers that become visits (projects/transfer/ties.h), in place of a topology; implies `measured`
    std::string ties = {};
    bool measured = false;
    std::optional<projects::Project> project; ///< the run's with other settings of training and schedule
    std::filesystem::path newRun;
    std::optional<std::int64_t> steps; ///< a new total of steps
    std::string tower = {};            ///< the name of the changed tower; empty: the first
};

/// The end of a refusal of RetrofitRequest that does not occur if it is measured.
inline constexpr const char* kGoOnMeasured = "; --measured goes on anyway";

/// Makes `newRun`, as RetrofitRequest does, that continues from a checkpoint with the weights of its blocks replaced by
/// two factors of `rank` that approximate them. The fits go layer by layer from the first: each uses the inputs that
/// the layers before it, already factored, compute from a batch of the training data. Everything else is kept with its
/// optimiser state; that of the factors starts afresh. Weights already in factors are unchanged. Refused if no weight
/// is left to factor.
struct FactoriseRequest {
    using Answer = struct FactoriseReady;
    QueryTag tag{};
    RunRef of;
    projects::WeightRank rank = projects::RankScale{};
    projects::LowRankMethod method = projects::LowRankMethod::Exact; ///< any but Baseline
    projects::LowRankInputs inputs = projects::LowRankInputs::Data;  ///< Gaussian: does not read the data
    std::filesystem::path newRun;
    std::optional<std::int64_t> steps; ///< a new total of steps
    std::string tower = {};            ///< the name of the changed tower; empty: the first
};
/// Makes a project from a model saved by the package transformers (config.json and safetensors), with a run whose
/// checkpoint of step 0 holds its weights in single precision. Copies the tokeniser if the folder has one. Reads the
/// weights one tensor at a time, directly into their destination. Refused by name, before anything is written, if the
/// architecture, an option or a tensor has no counterpart. Reports QueryProgress.
struct ImportRequest {
    using Answer = struct ImportReady;
    QueryTag tag{};
    std::filesystem::path folder;
    std::filesystem::path projectDirectory; ///< of the new project; must not exist, or be empty
    /// The training and evaluation data, except for the tokeniser, which is the model's. nullopt: a few lines of sample
    /// text, so that all commands work.
    std::optional<projects::Source> data;
};
/// Makes a run of `project` whose checkpoint of step 0 takes parameters from a safetensors file. A tensor is used if
/// its shape and name match a parameter: its name in this program, or its name in the transformers architecture that
/// the network has. Other parameters start by their laws in the document. Refused if no tensor matches. Reports
/// QueryProgress.
struct LoadWeightsRequest {
    using Answer = struct LoadWeightsReady;
    QueryTag tag{};
    std::filesystem::path file;
    /// If not empty, the tensors are those of a network that is the project's tower of this name; each of its
    /// parameters must have one.
    std::string tower;
    projects::Project project;
    std::filesystem::path projectDirectory;
    std::filesystem::path runDirectory; ///< must not exist; empty: a new one in the project's folder of runs
};
/// Writes the network of a checkpoint into a folder, in one of the formats of export_format.h. Runs on the CPU; a
/// separate Python process makes an ONNX graph from PyTorch code. Refused by name, with nothing written, if a part of
/// the network has no counterpart or there is no suitable Python.
struct ExportRequest {
    using Answer = struct ExportReady;
    QueryTag tag{};
    ExportFormat format = ExportFormat::PyTorch;
    /// The type of the weights in a HuggingFace model of a known architecture: one of kWeightTypes. Empty: the type
    /// that the weights were imported with if that is lossless, else the checkpoint's type.
    std::string type;
    RunRef of;
    std::filesystem::path folder; ///< must not exist, or be empty
    /// The name of a tower that reads no other, to write it alone. Empty: all of them; HuggingFace takes one only.
    std::string tower = {};
};
/// Measures the effect of leaving out each layer of a checkpoint's network (row_curves.h, matrix::kStability).
struct StabilityRequest {
    using Answer = struct StabilityReady;
    QueryTag tag{};
    RunRef of;
    std::int64_t batches = 0; ///< of the validation split; 0: as many as the run's validations use
    std::string tower = {};   ///< as in KnockoutRequest
};

/// Measures on held-out batches what a checkpoint's network loses without each of its parts. The result is kept with
/// the run (engine/runs/results/effects.h) unless it is of chosen parts or of other data than the run's. If it cannot
/// be kept, a note says so. A result that the run has kept is the answer, with a note, unless `again`.
struct KnockoutRequest {
    using Answer = struct KnockoutReady;
    QueryTag tag{};
    RunRef of;
    projects::KnockoutBy by = projects::KnockoutBy::Term;
    /// True if the other weights of a softmax take the place of the one that is switched off.
    bool renormalise = false;
    std::int64_t batches = 0; ///< of the validation split; 0: as many as the run's validations use
    /// The names of the parts to switch off (projects::KnockoutSubject::name); empty: all. Refused if one is unknown.
    std::vector<std::string> only = {};
    bool again = false; ///< measures even if the run has kept the result
    /// The name of the tower that loses parts; empty: the first. The loss is that of the first tower if it reads values
    /// of this one, else this one's own. Refused if it has neither.
    std::string tower = {};
};

/// Measures on held-out batches what a checkpoint's network of parallel streams loses if streams have other values from
/// a module on, if one of them is restored, or if transitions are replaced. Each intervention is measured with the
/// routing recomputed, and frozen to that of the unaltered pass. Lists are separated by commas; a range is "4" or
/// "4-8". Refused if the wiring has no streams or a list names what it lacks.
struct InterventionRequest {
    using Answer = struct InterventionReady;
    QueryTag tag{};
    RunRef of;
    projects::InterventionKind what = projects::InterventionKind::Streams;
    std::string streams; ///< sets such as "1,2,1+3"; empty: each stream
    /// Ranges of borders (projects::FilledStreams), or of modules for transitions. Empty: each border from 1; for a
    /// rescue border 1; for transitions all modules, the first half and the second half.
    std::string after;
    projects::StreamFill fill = projects::StreamFill::Zero;
    std::int64_t copied = 0; ///< the stream that is copied, with StreamFill::Stream
    std::string restored;    ///< of a rescue: streams; empty: each
    std::string at;          ///< of a rescue: ranges of borders, each taken alone; empty: each from the filled one on
    projects::TransitionForm by = projects::TransitionForm::Identity;
    std::int64_t top = 1;     ///< k of TransitionForm::Top
    std::int64_t batches = 0; ///< of the validation split; 0: as many as the run's validations use
    std::string tower = {};   ///< as in KnockoutRequest
};

/// Measures the gap of every weight that is to be held in factors. Fits two factors of a rank below the full one by
/// each method, and compares their function with that of the full weight. The full weights are those of a run's
/// checkpoint or, without a run, the initial weights of `project`. The fits run on the CPU, beside a run, and are kept
/// in the user's cache of fits; nothing else is written. GapProgress reports the finished fits, GapReady all of them.
/// Refused if no weight has a rank below its full one.
struct GapRequest {
    using Answer = struct GapReady;
    QueryTag tag{};
    RunRef of; ///< without a runDirectory: `project` itself, whose directory is projectDirectory
    projects::Project project;
    std::optional<projects::WeightRank> rank;      ///< overrides the rank in the document
    std::optional<projects::LowRankInputs> inputs; ///< overrides the inputs in the document
    /// At least one, without repetition.
    std::vector<projects::LowRankMethod> methods = {projects::LowRankMethod::Spectral, projects::LowRankMethod::LfaiWs,
                                                    projects::LowRankMethod::Exact};
};

/// Trains a tokeniser on text, beside a run. Reports QueryProgress. If given up, writes nothing and answers
/// QueryFailed when the training has ended.
struct TokeniserRequest {
    using Answer = struct TokeniserReady;
    QueryTag tag{};
    TokeniserTraining training;
};

/// Copies a checkpoint of a run at a place with a folder of its own (EngineRemote::folder) into the run's directory on
/// this machine, beside other commands. An existing copy is replaced. Reports QueryProgress. Programs only.
struct FetchCheckpoint {
    using Answer = struct CheckpointFetched;
    QueryTag tag{};
    std::filesystem::path runDirectory;
    std::optional<std::int64_t> step; ///< default: the last checkpoint
};

/// Cancels a query, which then answers QueryFailed. An import, an export or a loading of weights removes what it has
/// written. Does nothing if the query has been answered already.
struct GiveUp {
    QueryTag tag{};
};

using Command = std::variant<StartRun, ResumeRun, FollowRun, RefuseRanks, Pause, Continue, Step, Stop, WriteCheckpoint,
                             ListDevices, SampleRequest, EvaluateRequest, RetrofitRequest, FactoriseRequest,
                             ImportRequest, LoadWeightsRequest, ExportRequest, StabilityRequest, KnockoutRequest,
                             InterventionRequest, GapRequest, TokeniserRequest, FetchCheckpoint, GiveUp>;

/// True for the queries: the commands that an event with their tag answers.
template <class Asked>
inline constexpr bool kIsQuery = requires
{
    typename Asked::Answer;
};
/// The event that answers a query, unless QueryFailed does.
template <class Query>
using AnswerOf = typename Query::Answer;
/// The event that tells the progress of a query.
template <class Query>
using ProgressOf = std::conditional_t<std::is_same_v<Query, GapRequest>, struct GapProgress, struct QueryProgress>;

/// True for the commands that begin a run.
template <class Asked>
inline constexpr bool kBeginsRun = std::is_same_v<Asked, StartRun> || std::is_same_v<Asked, ResumeRun> ||
                                   std::is_same_v<Asked, FollowRun> || std::is_same_v<Asked, RefuseRanks>;
/// True for the commands to a run that has begun: Stop, Pause and the like.
template <class Asked>
inline constexpr bool kControlsRun = !kBeginsRun<Asked> && requires(Asked asked)
{
    asked.run;
};

} // namespace residua::engine
