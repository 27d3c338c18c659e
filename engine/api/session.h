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

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace residua::engine {

// ---- Commands -------------------------------------------------------------------------------

/// The action if a run's data have another fingerprint than the data that it was trained on.
enum class OtherData {
    Refuse, ///< fails, naming the expected and the found data
    Accept, ///< adds a note; a run that trains or is made records an event
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
    bool waitsForDisk = false; ///< if the run cannot be written, it pauses instead of failing (RunPaused::error)
};
/// Resumes from the checkpoint of `step`, or the last one; from step 0 if no checkpoint exists. Drops the records after
/// it.
struct ResumeRun {
    RunId run{};
    std::filesystem::path runDirectory;
    std::filesystem::path projectDirectory; ///< empty: the one recorded in the run; else replaces it
    OtherData otherData = OtherData::Refuse;
    std::string device = "cpu";
    std::optional<std::int64_t> step;
    std::optional<std::int64_t> steps; ///< a new total of steps
    bool waitsForDisk = false;         ///< as in StartRun
};
/// On another rank than 0 of those that train together (rankPlace): trains along until rank 0's run ends. Other
/// commands wait for that.
struct FollowRun {
    RunId run{};
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
    QueryTag tag{};
    std::filesystem::path runDirectory;
    std::filesystem::path projectDirectory; ///< empty: the one recorded in the run
    OtherData otherData = OtherData::Refuse;
    std::optional<std::int64_t> step;
    std::string
        prompt; ///< text, or ids separated by spaces where the data has no tokeniser; empty: the data's beginning
    std::int64_t tokens = 200;
    double temperature = 0.8; ///< 0: greedy
    std::int64_t topK = 0;    ///< 0: off. For candidates it is their number; 0: kCandidates
    std::int64_t seed = 1;
};
/// Computes the mean loss on a part of the data.
struct EvaluateRequest {
    QueryTag tag{};
    std::filesystem::path runDirectory;
    std::filesystem::path projectDirectory; ///< empty: the one recorded in the run
    OtherData otherData = OtherData::Refuse;
    std::optional<std::int64_t> step;
    Split split = Split::Validation;
    std::int64_t batches = 0; ///< 0: all
};
/// Makes `newRun` (as StartRun's directory; empty: a new one beside the run) that continues from a checkpoint under
/// `topology` and at first computes the same function. Keeps the remaining weights with their optimiser state; the
/// topology's own parameters start afresh. Blocks whose attention has separate inputs in the topology get its ports.
/// Refused with the reason if the function would change. ResumeRun trains the new run.
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

/// Makes `newRun`, as RetrofitRequest does, that continues from a checkpoint with the weights of its blocks replaced by
/// two factors of `rank` that approximate them. The fits go layer by layer from the first: each uses the inputs that
/// the layers before it, already factored, compute from a batch of the training data. Everything else is kept with its
/// optimiser state; that of the factors starts afresh. Weights already in factors are unchanged. Refused if no weight
/// is left to factor.
struct FactoriseRequest {
    QueryTag tag{};
    std::filesystem::path runDirectory;
    std::filesystem::path projectDirectory; ///< empty: the one recorded in the run
    OtherData otherData = OtherData::Refuse;
    std::optional<std::int64_t> step; ///< default: the last checkpoint
    projects::WeightRank rank = projects::RankScale{};
    projects::LowRankMethod method = projects::LowRankMethod::Exact; ///< any but Baseline
    projects::LowRankInputs inputs = projects::LowRankInputs::Data;  ///< Gaussian: does not read the data
    std::filesystem::path newRun;
    std::optional<std::int64_t> steps; ///< a new total of steps
};
/// Makes a project from a model saved by the package transformers (config.json and safetensors), with a run whose
/// checkpoint of step 0 holds its weights in single precision. Copies the tokeniser if the folder has one. Reads the
/// weights one tensor at a time, directly into their destination. Refused by name, before anything is written, if the
/// architecture, an option or a tensor has no counterpart. Reports ImportProgress.
struct ImportRequest {
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
/// ImportProgress.
struct LoadWeightsRequest {
    QueryTag tag{};
    std::filesystem::path file;
    projects::Project project;
    std::filesystem::path projectDirectory;
    std::filesystem::path runDirectory; ///< must not exist; empty: a new one in the project's folder of runs
};
/// Writes the network of a checkpoint into a folder, in one of the formats of export_format.h. Runs on the CPU; a
/// separate Python process makes an ONNX graph from PyTorch code. Refused by name, with nothing written, if a part of
/// the network has no counterpart or there is no suitable Python.
struct ExportRequest {
    QueryTag tag{};
    ExportFormat format = ExportFormat::PyTorch;
    /// The type of the weights in a HuggingFace model of a known architecture: one of kWeightTypes. Empty: the type
    /// that the weights were imported with if that is lossless, else the checkpoint's type.
    std::string type;
    std::filesystem::path runDirectory;
    std::filesystem::path projectDirectory; ///< empty: the one recorded in the run
    OtherData otherData = OtherData::Refuse;
    std::optional<std::int64_t> step; ///< default: the last checkpoint
    std::filesystem::path folder;     ///< must not exist, or be empty
};
/// Measures the effect of leaving out each layer of a checkpoint's network (row_curves.h, matrix::kStability).
struct StabilityRequest {
    QueryTag tag{};
    std::filesystem::path runDirectory;
    std::filesystem::path projectDirectory; ///< empty: the one recorded in the run
    OtherData otherData = OtherData::Refuse;
    std::optional<std::int64_t> step;
    std::int64_t batches = 0; ///< of the validation split; 0: as many as the run's validations use
};

/// Measures the gap of every weight that is to be held in factors. Fits two factors of a rank below the full one by
/// each method, and compares their function with that of the full weight. The full weights are those of a run's
/// checkpoint or, without a run, the initial weights of `project`. The fits run on the CPU, beside a run, and are kept
/// in the user's cache of fits; nothing else is written. GapProgress reports the finished fits, GapReady all of them.
/// Refused if no weight has a rank below its full one.
struct GapRequest {
    QueryTag tag{};
    std::filesystem::path runDirectory; ///< empty: measures `project` itself
    projects::Project project;
    std::filesystem::path projectDirectory; ///< of `project`; for a run, empty: the one recorded in it
    OtherData otherData = OtherData::Refuse;
    std::optional<std::int64_t> step;              ///< for a run; default: the last checkpoint
    std::optional<projects::WeightRank> rank;      ///< overrides the rank in the document
    std::optional<projects::LowRankInputs> inputs; ///< overrides the inputs in the document
    std::vector<projects::LowRankMethod> methods;  ///< at least one, without repetition
};

/// Trains a tokeniser on text, beside a run. Reports TokeniserProgressed. If given up, writes nothing and answers
/// QueryFailed when the training has ended.
struct TokeniserRequest {
    QueryTag tag{};
    TokeniserTraining training;
};

/// Copies a checkpoint of a run at a place with a folder of its own (EnginePlace::folder) into the run's directory on
/// this machine, beside other commands. An existing copy is replaced. Reports FetchProgress. Programs only.
struct FetchCheckpoint {
    QueryTag tag{};
    std::filesystem::path runDirectory;
    std::optional<std::int64_t> step; ///< default: the last checkpoint
};

/// Cancels a query, which then answers QueryFailed. An import, an export or a loading of weights removes what it has
/// written. Does nothing if the query has been answered already.
struct GiveUp {
    QueryTag tag{};
};

using Command =
    std::variant<StartRun, ResumeRun, FollowRun, Pause, Continue, Step, Stop, WriteCheckpoint, ListDevices,
                 SampleRequest, EvaluateRequest, RetrofitRequest, FactoriseRequest, ImportRequest, LoadWeightsRequest,
                 ExportRequest, StabilityRequest, GapRequest, TokeniserRequest, FetchCheckpoint, GiveUp>;

/// True for the commands that begin a run.
template <class Asked>
inline constexpr bool kBeginsRun =
    std::is_same_v<Asked, StartRun> || std::is_same_v<Asked, ResumeRun> || std::is_same_v<Asked, FollowRun>;

// ---- Events ---------------------------------------------------------------------------------

/// In the events of a session, and in its commands: the run that a background engine had when the session found it.
inline constexpr RunId kFoundRun{};

/// The run trains. A session that finds a background engine with a run receives this with kFoundRun.
struct RunStarted {
    RunId run{};
    std::filesystem::path runDirectory;
    std::int64_t firstStep = 0; ///< steps already done
    std::int64_t steps = 0;     ///< the total planned
    std::int64_t parameters = 0;
    std::string device;
    std::int64_t unitsPerStep = 0;
    projects::Unit unit = projects::Unit::Token; ///< the unit of unitsPerStep
};
/// The records since the previous Progress. At most 30 a second; the last step's is always sent.
struct Progress {
    RunId run{};
    std::vector<StepRecord> steps;
    std::vector<MetricRow> rows;     ///< measured after some steps, by step
    std::vector<Matrix> matrices;    ///< by step
    std::vector<StageRecord> stages; ///< the stages that have begun
    double unitsPerSecond = 0;       ///< tokens/s or samples/s over the last seconds
    std::int64_t peakBytes = 0;      ///< peak memory: the device's, or the process's on the CPU

    /// Returns the last value of the metric `name` in `rows`; nullopt if no row has that name.
    [[nodiscard]] std::optional<double> last(std::string_view name) const
    {
        const auto found = std::ranges::find(rows.rbegin(), rows.rend(), name, &MetricRow::name);
        return found == rows.rend() ? std::nullopt : std::optional(found->value);
    }
};
struct CheckpointWritten {
    RunId run{};
    std::int64_t step = 0;
    std::filesystem::path path;
};
struct RunPaused {
    RunId run{};
    std::int64_t step = 0;
    /// Why the checkpoint or the records cannot be written; empty if a pause was requested. Continue and Step try
    /// again; Stop ends the run as Failed, with what was written before.
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
    bool noEngine = false; ///< true if the run failed because the engine cannot be started, as any other run would

    /// True if `error` says why the run ended. Interrupted: the engine's process ended within it.
    [[nodiscard]] bool hasFailed() const { return status == RunStatus::Failed || status == RunStatus::Interrupted; }
};
/// A message for the user; the run continues.
struct Notice {
    RunId run{};
    std::string text;
};
struct DevicesListed {
    QueryTag tag{};
    std::vector<DeviceInfo> devices;
};
struct TokenCandidate {
    std::string token; ///< as its tokeniser writes it, such as "##ing"; or the name of a class
    double probability = 0;
};
/// A masked token of a prompt, or an example that is classified.
struct MaskedPosition {
    std::int64_t position = 0;              ///< from 0, in tokens or examples
    std::vector<TokenCandidate> candidates; ///< the most probable first
};
struct SampleReady {
    QueryTag tag{};
    std::string text;                   ///< of masked tokens: the prompt with the most probable ones
    std::int64_t step = 0;              ///< of the checkpoint that was used
    std::vector<std::string> notes;     ///< for the user: a newer checkpoint is damaged, or the data differ
    std::vector<MaskedPosition> masked; ///< empty for a text that is continued
};
struct EvaluationReady {
    QueryTag tag{};
    std::map<std::string, double> means; ///< of each quantity of the objective: "loss", "accuracy"
    std::int64_t batches = 0;
    std::int64_t step = 0; ///< of the checkpoint that was used
    std::vector<std::string> notes;
};
struct RetrofitReady {
    QueryTag tag{};
    std::filesystem::path runDirectory;
    std::int64_t step = 0;
    std::vector<std::string> kept;    ///< names of parameters that keep their values and optimiser state
    std::vector<std::string> added;   ///< names of new parameters, without optimiser state
    std::vector<std::string> dropped; ///< of the old topology
    double difference = 0; ///< the largest difference of the outputs on examples of the data, in the run's precision
    double differenceInDouble = 0;  ///< the same, computed in double precision
    std::vector<std::string> notes; ///< as SampleReady's
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
    double lossBefore = 0; ///< mean over `batches` of the validation split, or of the training split if that is empty
    double lossAfter = 0;  ///< on the same batches
    std::int64_t batches = 0;
    std::vector<std::string> notes; ///< as SampleReady's, and remarks on the fits
};
/// The progress of an import, or of loading weights into a project. Sent at most about thirty times a second.
struct ImportProgress {
    QueryTag tag{};
    double share = 0; ///< the fraction of reading the weights and writing the checkpoint that is done
};
/// The progress of a factorisation's fits.
struct FactoriseProgress {
    QueryTag tag{};
    double share = 0;
};
/// The progress of writing an export's weights. Sent at most about thirty times a second.
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
    std::int64_t parameters = 0;    ///< the number of scalars
    std::string type;               ///< the type of most weights in the files: "BF16"
    std::vector<std::string> notes; ///< for the user: what is not imported, and what replaces the data
};
struct LoadWeightsReady {
    QueryTag tag{};
    std::filesystem::path runDirectory;
    /// The result for one parameter.
    struct Row {
        std::string parameter;
        std::string tensor;  ///< the matching tensor of the file; empty if nothing matches
        bool fits = false;   ///< true if the parameter was loaded from it
        std::string message; ///< why not: the shapes, or the nearest name among the unused tensors
    };
    std::vector<Row> rows;           ///< in the network's order
    std::vector<std::string> unused; ///< unused tensors of the file, except for those that carry no information
    std::vector<std::string> notes;
};
struct ExportReady {
    QueryTag tag{};
    std::string architecture; ///< for a HuggingFace model, the name in its config.json; else empty
    std::filesystem::path folder;
    std::int64_t step = 0;          ///< of the checkpoint that was used
    std::int64_t layers = 0;        ///< in the exported network
    std::int64_t parameters = 0;    ///< the number of scalars
    std::int64_t leftOut = 0;       ///< scalars of the checkpoint that are not exported, because nothing reads them
    std::vector<std::string> notes; ///< as SampleReady's
    bool ownCode = false;           ///< for a HuggingFace model: true if it brings the code that computes it
};
struct StabilityReady {
    QueryTag tag{};
    std::vector<Matrix> matrices; ///< matrix::kStability and matrix::kStabilityGap
    double loss = 0;              ///< of the whole network, on the same batches
    std::int64_t batches = 0;
    std::int64_t step = 0;          ///< of the checkpoint that was used
    std::vector<std::string> notes; ///< as SampleReady's
};
/// The fits finished so far of a GapRequest, sent about ten times a second.
struct GapProgress {
    QueryTag tag{};
    Gap gap;
};
struct GapReady {
    QueryTag tag{};
    Gap gap;
};
/// The progress of training a tokeniser. Sent at most about thirty times a second.
struct TokeniserProgressed {
    QueryTag tag{};
    TokeniserProgress progress;
};
struct TokeniserReady {
    QueryTag tag{};
    std::filesystem::path model; ///< the written file
    TrainedTokeniser tokeniser;
};
/// The progress of copying a checkpoint.
struct FetchProgress {
    QueryTag tag{};
    double share = 0; ///< of its bytes
};
struct CheckpointFetched {
    QueryTag tag{};
    std::filesystem::path checkpoint; ///< its directory on this machine
    std::int64_t step = 0;
    std::int64_t bytes = 0;
};
struct QueryFailed {
    QueryTag tag{};
    Error error;
    /// All errors, one per line, if `error` names only the first: the tensors of an import that do not fit.
    std::vector<std::string> details = {};
    std::vector<std::string> notes = {}; ///< notes for the user from the work done until the error
};

using Event =
    std::variant<RunStarted, Progress, CheckpointWritten, RunPaused, RunContinued, RunEnded, Notice, DevicesListed,
                 SampleReady, EvaluationReady, RetrofitReady, FactoriseProgress, FactoriseReady, ImportProgress,
                 ImportReady, LoadWeightsReady, ExportProgress, ExportReady, StabilityReady, GapProgress, GapReady,
                 TokeniserProgressed, TokeniserReady, FetchProgress, CheckpointFetched, QueryFailed>;

/// True for the events of a query that its answer follows.
template <class Told>
inline constexpr bool kIsProgress = std::is_same_v<Told, GapProgress> || std::is_same_v<Told, FactoriseProgress> ||
                                    std::is_same_v<Told, ImportProgress> || std::is_same_v<Told, ExportProgress> ||
                                    std::is_same_v<Told, TokeniserProgressed> || std::is_same_v<Told, FetchProgress>;

/// Receives events on the engine's thread. Must return quickly and must not run the session's destructor.
using EventSink = std::function<void(Event)>;

/// Where the programs have the process of their engine.
struct EnginePlace {
    enum class Kind {
        Child,       ///< a child of this process, which ends with it; RESIDUA_ENGINE overrides it
        Background,  ///< a process on this machine that outlives this one, and that the next one finds
        CommandLine, ///< `command`
    };
    std::string name; ///< for the user
    Kind kind = Kind::Child;
    std::string command; ///< a command line that ends in the engine: "ssh gpu1 residua-engine --stdio"
    /// The folder on the other machine that receives projects and runs. Runs have a record on this machine too, which
    /// names the place; commands for such a run go there from any session. Empty: both machines see the same folders.
    std::filesystem::path folder;
    bool operator==(const EnginePlace&) const = default;
};

/// The engine: one thread that owns every tensor. `post` never blocks and may be called from any thread. Commands are
/// executed in order; those for a running run at its next step boundary, or during a long query beside it. The
/// destructor stops a running run after a checkpoint and joins the thread.
///
/// The programs have the engine in a process of its own (engine/process), which the first command starts. If that
/// process ends by itself, its run ends as Interrupted, its queries fail, and the next command starts another process.
/// A background engine is not stopped with the session: its run continues, and its queries are given up.
class Session {
public:
    /// `threads` is the number of CPU threads for mathematics. 0: the library's default, or for a resumed run the
    /// number that it had, because sums are split by thread and their last bits depend on the number. `place` is used
    /// by the programs only.
    explicit Session(EventSink sink, int threads = 0, EnginePlace place = {});
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    void post(Command command);

private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace residua::engine
