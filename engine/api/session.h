// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/export_format.h"
#include "engine/api/gap.h"
#include "engine/api/split.h"
#include "engine/api/tokeniser_training.h"
#include "engine/api/values.h"
#include "projects/base/result.h"
#include "projects/model/project.h"
#include "projects/nodes/example_schema.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace residua::engine {

// ---- Commands -------------------------------------------------------------------------------

/// What is done where a run's data are not those that it was trained on, by their fingerprint.
enum class OtherData {
    Refuse, ///< with what was expected and what was got
    Accept, ///< told as a note; what trains or makes a run records it as an event
};

/// Trains `project`. A copy of it is frozen in the run's directory.
struct StartRun {
    RunId run{};
    projects::Project project;
    std::filesystem::path projectDirectory; ///< relative data paths start here
    /// Must not exist, or be empty but for what a run left that was cut off before it began. Empty: a new one in
    /// `runFolder`, which is made when the run begins; RunStarted tells which.
    std::filesystem::path runDirectory;
    std::filesystem::path runFolder;
    std::string device = "cpu";
    std::int64_t pauseAfter = 0; ///< pauses after so many steps (Step on a fresh run); 0: never
    /// The member of a sweep that this run trains; nothing for another run. The run of a member is named project.name.
    std::optional<projects::Membership> membership = std::nullopt;
    bool waitsForDisk = false; ///< if the run cannot be written, it pauses instead of failing (RunPaused::error)
};
/// Goes on from the last checkpoint, or that of `step`; from 0 before the first. What is recorded beyond is dropped.
struct ResumeRun {
    RunId run{};
    std::filesystem::path runDirectory;
    std::filesystem::path projectDirectory; ///< empty: the one recorded in the run; else recorded in its place
    OtherData otherData = OtherData::Refuse;
    std::string device = "cpu";
    std::optional<std::int64_t> step;
    std::optional<std::int64_t> steps; ///< a new total of steps
    bool waitsForDisk = false;         ///< as in StartRun
};
struct Pause {
    RunId run{};
};
struct Continue {
    RunId run{};
};
/// Does `steps` steps, then pauses.
struct Step {
    RunId run{};
    std::int64_t steps = 1;
};
/// Ends at the next step boundary, after a checkpoint.
struct Stop {
    RunId run{};
};
struct WriteCheckpoint {
    RunId run{};
};
struct ListDevices {
    QueryTag tag{};
};

/// The most tokens that a sample may have: they are held in memory until the last is there.
inline constexpr std::int64_t kMostSampledTokens = 10'000'000;
/// Continues `prompt` with the language model of a checkpoint.
struct SampleRequest {
    QueryTag tag{};
    std::filesystem::path runDirectory;
    std::filesystem::path projectDirectory; ///< empty: the one recorded in the run
    OtherData otherData = OtherData::Refuse;
    std::optional<std::int64_t> step;
    std::string
        prompt; ///< text, or ids separated by spaces where the data has no tokeniser; empty: the data's beginning
    std::int64_t tokens = 200;
    double temperature = 0.8; ///< 0: greedy
    std::int64_t topK = 0;    ///< 0: off
    std::int64_t seed = 1;
};
/// Mean loss on a part of the data.
struct EvaluateRequest {
    QueryTag tag{};
    std::filesystem::path runDirectory;
    std::filesystem::path projectDirectory; ///< empty: the one recorded in the run
    OtherData otherData = OtherData::Refuse;
    std::optional<std::int64_t> step;
    Split split = Split::Validation;
    std::int64_t batches = 0; ///< 0: all
};
/// Makes `newRun`, as StartRun's directory (empty: a new one beside the run), a run that goes on from a checkpoint with
/// its depth wired by `topology`, computing what it computed: the weights that stay and the optimiser's state of them
/// are kept, those of the topology start afresh. Blocks whose attention the topology feeds apart get its ports.
/// Refused, with the reason, where the function would change. ResumeRun trains the new run.
struct RetrofitRequest {
    QueryTag tag{};
    std::filesystem::path runDirectory;
    std::filesystem::path projectDirectory; ///< empty: the one recorded in the run
    OtherData otherData = OtherData::Refuse;
    std::optional<std::int64_t> step; ///< default: the last checkpoint
    projects::Topology topology;
    std::filesystem::path newRun;
    std::optional<std::int64_t> steps; ///< a new total of steps
};

/// Makes `newRun`, as RetrofitRequest does, a run that goes on from a checkpoint with the weights of its blocks in two
/// factors of `rank` that approximate what they have learned. Layer by layer from the first: each is fitted to what
/// those before it, factored, make of a batch of the training data. All else is kept with the optimiser's state; that
/// of the factors starts afresh. Weights that are factored already stay as they are. Refused where none is left.
struct FactoriseRequest {
    QueryTag tag{};
    std::filesystem::path runDirectory;
    std::filesystem::path projectDirectory; ///< empty: the one recorded in the run
    OtherData otherData = OtherData::Refuse;
    std::optional<std::int64_t> step; ///< default: the last checkpoint
    projects::WeightRank rank = projects::RankScale{};
    projects::LowRankMethod method = projects::LowRankMethod::Exact; ///< any but Baseline
    projects::LowRankInputs inputs = projects::LowRankInputs::Data;  ///< Gaussian: the data are not looked at
    std::filesystem::path newRun;
    std::optional<std::int64_t> steps; ///< a new total of steps
};
/// Makes a project of a model that the package transformers has saved (config.json and safetensors), with a run whose
/// checkpoint of step 0 holds its weights, in single precision. Its tokeniser comes along where the folder has one. The
/// weights are read one tensor after another, each where it is to be. Refused, by name and before anything is written,
/// where the architecture, an option or a tensor has no counterpart. ImportProgress tells how far it is.
struct ImportRequest {
    QueryTag tag{};
    std::filesystem::path folder;
    std::filesystem::path projectDirectory; ///< of the new project; must not exist, or be empty
    /// What it is to be trained and evaluated on, its tokeniser aside, which is the model's. Nothing: a few lines that
    /// stand for it, so that all commands work.
    std::optional<projects::Source> data;
};
/// Makes a run of `project` whose checkpoint of step 0 has the numbers of a safetensors file wherever a tensor has the
/// name and the shape of a parameter: the name that it has here, or in the architecture of transformers that the
/// network is. All others start as the document says. Refused where none fits. ImportProgress tells how far it is.
struct LoadWeightsRequest {
    QueryTag tag{};
    std::filesystem::path file;
    projects::Project project;
    std::filesystem::path projectDirectory;
    std::filesystem::path runDirectory; ///< must not exist. Empty: a new one among the project's runs
};
/// Writes the network of a checkpoint into a folder, in one of the formats of export_format.h. Computed on the host; an
/// ONNX graph is made of PyTorch code by a Python in a process of its own. Refused, by name and with nothing written,
/// where a part of the network has no counterpart or there is no such Python.
struct ExportRequest {
    QueryTag tag{};
    ExportFormat format = ExportFormat::PyTorch;
    /// The type of the weights in a HuggingFace model of one of the architectures: one of kWeightTypes. Empty: as the
    /// weights were imported, where nothing is lost by that, else as the checkpoint has them.
    std::string type;
    std::filesystem::path runDirectory;
    std::filesystem::path projectDirectory; ///< empty: the one recorded in the run
    OtherData otherData = OtherData::Refuse;
    std::optional<std::int64_t> step; ///< default: the last checkpoint
    std::filesystem::path folder;     ///< must not exist, or be empty
};
/// What the network of a checkpoint does without each of its layers (row_curves.h, matrix::kStability).
struct StabilityRequest {
    QueryTag tag{};
    std::filesystem::path runDirectory;
    std::filesystem::path projectDirectory; ///< empty: the one recorded in the run
    OtherData otherData = OtherData::Refuse;
    std::optional<std::int64_t> step;
    std::int64_t batches = 0; ///< of the validation split; 0: as many as a validation of the run has
};

/// Measures the gap of every weight that is to be held in factors: fits two factors of a rank below the full one by
/// each method, and compares what they compute with what the full weight does. The full weights are those of a run's
/// checkpoint or, without a run, those that `project` starts from. The fits run on the processor, beside a run, and are
/// kept in the user's cache of fits; nothing else is written. GapProgress tells the fits that are done, GapReady all of
/// them. Refused where no weight has a rank below its full one.
struct GapRequest {
    QueryTag tag{};
    std::filesystem::path runDirectory; ///< empty: `project` itself
    projects::Project project;
    std::filesystem::path projectDirectory; ///< of `project`; of a run, empty: the one recorded in it
    OtherData otherData = OtherData::Refuse;
    std::optional<std::int64_t> step;              ///< of a run, default: the last checkpoint
    std::optional<projects::WeightRank> rank;      ///< instead of the network's in the document
    std::optional<projects::LowRankInputs> inputs; ///< instead of the document's
    std::vector<projects::LowRankMethod> methods;  ///< one at least, each once
};

/// Learns a tokeniser from text, beside a run. TokeniserProgressed tells how far it is. Given up, it leaves nothing:
/// the QueryFailed comes when it has ended.
struct TokeniserRequest {
    QueryTag tag{};
    TokeniserTraining training;
};

/// Gives a question up. A QueryFailed answers it; an import, an export or a loading of weights has then removed what it
/// had written. A question that has been answered already is not answered again.
struct GiveUp {
    QueryTag tag{};
};

using Command = std::variant<StartRun, ResumeRun, Pause, Continue, Step, Stop, WriteCheckpoint, ListDevices,
                             SampleRequest, EvaluateRequest, RetrofitRequest, FactoriseRequest, ImportRequest,
                             LoadWeightsRequest, ExportRequest, StabilityRequest, GapRequest, TokeniserRequest, GiveUp>;

// ---- Events ---------------------------------------------------------------------------------

struct RunStarted {
    RunId run{};
    std::filesystem::path runDirectory;
    std::int64_t firstStep = 0; ///< steps already done
    std::int64_t steps = 0;     ///< planned in all
    std::int64_t parameters = 0;
    std::string device;
    std::int64_t unitsPerStep = 0;
    projects::Unit unit = projects::Unit::Token; ///< what is counted
};
/// What has come since the last one; at most 30 a second, the last step's always.
struct Progress {
    RunId run{};
    std::vector<StepRecord> steps;
    std::vector<Matrix> matrices; ///< by step
    std::vector<ValidationRecord> validations;
    std::vector<ValidationRecord> stageValidations; ///< of what a step trains, where that is less than the network
    std::vector<StageRecord> stages;                ///< those that have begun
    double unitsPerSecond = 0;                      ///< tokens/s or samples/s over the last seconds
    std::int64_t peakBytes = 0;                     ///< peak memory: the device's, or the process's on the CPU
};
struct CheckpointWritten {
    RunId run{};
    std::int64_t step = 0;
    std::filesystem::path path;
};
struct RunPaused {
    RunId run{};
    std::int64_t step = 0;
    /// Why its checkpoint or its record cannot be written; empty if a pause was asked for. Continue and Step try once
    /// more; Stop ends the run as Failed, with what was written before.
    Error error;
};
struct RunContinued {
    RunId run{};
};
struct RunEnded {
    RunId run{};
    RunStatus status{};
    std::int64_t step = 0;
    Error error;
    bool noEngine = false; ///< it failed because the engine cannot be opened, as every other run would
};
/// Something a person should read; the run goes on.
struct Notice {
    RunId run{};
    std::string text;
};
struct DevicesListed {
    QueryTag tag{};
    std::vector<DeviceInfo> devices;
};
struct SampleReady {
    QueryTag tag{};
    std::string text;
    std::int64_t step = 0;          ///< of the checkpoint that was used
    std::vector<std::string> notes; ///< what a person should know: a newer checkpoint is damaged, the data are others
};
struct EvaluationReady {
    QueryTag tag{};
    double loss = 0;
    std::int64_t batches = 0;
    std::int64_t step = 0; ///< of the checkpoint that was used
    std::vector<std::string> notes;
};
struct RetrofitReady {
    QueryTag tag{};
    std::filesystem::path runDirectory;
    std::int64_t step = 0;
    std::vector<std::string> kept;    ///< parameters by name, with their values and optimiser state
    std::vector<std::string> added;   ///< new ones, with none
    std::vector<std::string> dropped; ///< of the old topology
    double difference = 0;            ///< the largest of the outputs on examples of the data, in the run's precision
    double differenceInDouble = 0;    ///< the same in double precision
    std::vector<std::string> notes;   ///< as SampleReady's
};
struct FactoriseReady {
    QueryTag tag{};
    std::filesystem::path runDirectory;
    std::int64_t step = 0;
    /// A weight that was factored.
    struct Weight {
        std::string name; ///< "layers.1.up.weight"
        std::int64_t rank = 0;
        double relativeError = 0; ///< ‖u·v − W‖_F / ‖W‖_F
    };
    std::vector<Weight> weights;
    std::int64_t parametersBefore = 0;
    std::int64_t parametersAfter = 0;
    double lossBefore = 0; ///< mean over `batches` of the validation split, or of the training split without one
    double lossAfter = 0;  ///< on the same batches
    std::int64_t batches = 0;
    std::vector<std::string> notes; ///< as SampleReady's, and of the fits
};
/// How far an import is, or the loading of weights onto a project. Some thirty times a second at most.
struct ImportProgress {
    QueryTag tag{};
    double share = 0; ///< of reading the weights and writing the checkpoint
};
/// How far a factorisation is with fitting the weights to the data.
struct FactoriseProgress {
    QueryTag tag{};
    double share = 0;
};
/// How far an export is with writing the weights. Some thirty times a second at most.
struct ExportProgress {
    QueryTag tag{};
    double share = 0;
};
struct ImportReady {
    QueryTag tag{};
    std::filesystem::path projectDirectory;
    std::filesystem::path runDirectory;
    std::string architecture; ///< "llama"
    std::int64_t layers = 0;
    std::int64_t parameters = 0;    ///< numbers
    std::string type;               ///< of most weights in the files: "BF16"
    std::vector<std::string> notes; ///< what a person should know: what is left out, what stands for the data
};
struct LoadWeightsReady {
    QueryTag tag{};
    std::filesystem::path runDirectory;
    /// What became of a parameter.
    struct Row {
        std::string parameter;
        std::string tensor;  ///< of the file; empty where it has none
        bool fits = false;   ///< it has its numbers from there
        std::string message; ///< why not: shapes, or the nearest name among those that are left over
    };
    std::vector<Row> rows;           ///< in the network's order
    std::vector<std::string> unused; ///< tensors of the file that are left over and say something
    std::vector<std::string> notes;
};
struct ExportReady {
    QueryTag tag{};
    std::string architecture; ///< of a HuggingFace model, as its config.json names it; empty for others
    std::filesystem::path folder;
    std::int64_t step = 0;          ///< of the checkpoint that was used
    std::int64_t layers = 0;        ///< that are there
    std::int64_t parameters = 0;    ///< numbers
    std::int64_t leftOut = 0;       ///< numbers of the checkpoint that are not there: nothing reads them
    std::vector<std::string> notes; ///< as SampleReady's
    bool ownCode = false;           ///< of a HuggingFace model: it brings the code that computes it
};
struct StabilityReady {
    QueryTag tag{};
    std::vector<Matrix> matrices; ///< matrix::kStability and matrix::kStabilityGap
    double loss = 0;              ///< of the whole network, on the same batches
    std::int64_t batches = 0;
    std::int64_t step = 0;          ///< of the checkpoint that was used
    std::vector<std::string> notes; ///< as SampleReady's
};
/// What is there of the answer to a GapRequest, some ten times a second while fits come.
struct GapProgress {
    QueryTag tag{};
    Gap gap;
};
struct GapReady {
    QueryTag tag{};
    Gap gap;
};
/// How far the learning of a tokeniser is. Some thirty times a second at most.
struct TokeniserProgressed {
    QueryTag tag{};
    TokeniserProgress progress;
};
struct TokeniserReady {
    QueryTag tag{};
    std::filesystem::path model; ///< the file that was written
    TrainedTokeniser tokeniser;
};
struct QueryFailed {
    QueryTag tag{};
    Error error;
    /// All that is wrong, a line each, where `error` can name only the first: the tensors of an import that do not fit.
    std::vector<std::string> details = {};
    std::vector<std::string> notes = {}; ///< what a person should know, as far as the work came
};

using Event = std::variant<RunStarted, Progress, CheckpointWritten, RunPaused, RunContinued, RunEnded, Notice,
                           DevicesListed, SampleReady, EvaluationReady, RetrofitReady, FactoriseProgress,
                           FactoriseReady, ImportProgress, ImportReady, LoadWeightsReady, ExportProgress, ExportReady,
                           StabilityReady, GapProgress, GapReady, TokeniserProgressed, TokeniserReady, QueryFailed>;

/// Receives events on the engine's thread; must return quickly and never call back into the session's destructor.
using EventSink = std::function<void(Event)>;

/// The engine: one thread that owns every tensor. `post` never blocks and may be called from any
/// thread; commands are carried out in order, those for a running run at its next step boundary, or while a query
/// beside it takes long.
/// The destructor stops a running run after a checkpoint and joins the thread.
class Session {
public:
    /// `threads` of the processor for mathematics on the CPU. 0: as many as the library finds, and for a run that is
    /// resumed as many as it had, because sums are split by their number and their last bits depend on it.
    explicit Session(EventSink sink, int threads = 0);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    void post(Command command);

private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace residua::engine
