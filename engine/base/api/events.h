// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/data_summary.h"
#include "engine/base/api/gap.h"
#include "engine/base/api/tokeniser_training.h"
#include "engine/base/api/values.h"
#include "projects/base/result.h"
#include "projects/nodes/example_schema.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

// The events with which a session answers.
namespace residua::engine {

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
    std::vector<StepRecord> steps = {};
    std::vector<MetricRow> rows = {};     ///< measured after some steps, by step
    std::vector<Matrix> matrices = {};    ///< by step
    std::vector<StageRecord> stages = {}; ///< the stages that have begun
    double unitsPerSecond = 0;            ///< tokens/s or samples/s over the last seconds
    std::int64_t peakBytes = 0;           ///< peak memory: the device's, or the process's on the CPU

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
    /// Why the record on this machine lacks the end of a run at another place; empty if it does not. ResumeRun
    /// completes it.
    std::string unrecorded = {};

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
    /// The prompt and its continuation, or the prompt with the most probable tokens in place of the masked ones, or the
    /// class of the prompt. Empty if examples of the data were classified.
    std::string text;
    std::int64_t step = 0;              ///< of the checkpoint that was used
    std::vector<std::string> notes;     ///< for the user: a newer checkpoint is damaged, or the data differ
    std::vector<MaskedPosition> masked; ///< empty for a text that is continued
    FedBatch classified;                ///< the examples of the data that were classified, with their classes
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
    double differenceInDouble = 0; ///< the same, computed in double precision
    // If the request was measured, instead of the differences:
    double lossBefore = 0; ///< mean over `batches` of the validation split, or of the training split if that is empty
    double lossAfter = 0;  ///< on the same batches
    std::int64_t batches = 0;       ///< 0: not measured
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
/// The effect of switching off one part of a network.
struct KnockoutRow {
    std::string name;        ///< projects::KnockoutSubject::name
    std::int64_t first = 0;  ///< the source i; the layer; the stream, from 1
    std::int64_t reader = 0; ///< j; 0 for layers and streams
    /// The applied weight of the shortcut: the mean over its reader's mixes, features and tokens; NaN for other parts.
    double weight = 0;
    double rise = 0;       ///< the loss without it minus that of the whole network, on the same batches
    double error = 0;      ///< the standard error of the rise over batches; NaN of one batch
    double divergence = 0; ///< the mean KL(whole ‖ without) of the predictions, in nats; NaN without classes
};
struct KnockoutReady {
    QueryTag tag{};
    std::vector<KnockoutRow> rows; ///< in the order of the document
    double loss = 0;               ///< of the whole network
    std::int64_t batches = 0;
    std::int64_t borderBytes = 0;   ///< of the values from which the passes of the last batch started
    std::int64_t step = 0;          ///< of the checkpoint that was used
    std::string checkpoint = {};    ///< identifies its weights: their checksum
    std::vector<std::string> notes; ///< as SampleReady's
};
/// The effect of an intervention on parallel streams, as an InterventionRequest asks for it.
struct InterventionRow {
    std::string name;
    std::string streams;       ///< "1+2"; empty for transitions
    std::int64_t first = 0;    ///< border, or module for transitions
    std::int64_t last = 0;     ///< border, or module
    std::int64_t restored = 0; ///< of a rescue: the stream; else 0
    std::int64_t at = 0;       ///< of a rescue: the border
    bool frozen = false;       ///< true with the routing of the unaltered pass
    double rise = 0;           ///< the loss less that of the unaltered network, on the same batches
    double error = 0;          ///< the standard error of the rise over batches; NaN of one batch
    double divergence = 0;     ///< the mean KL(unaltered ‖ altered) of the predictions, in nats; NaN without classes
    /// Rescues: R = 1 − KL/D, NaN if D, the divergence without the rescue, is not above the noise. Pairs: the
    /// divergence less those of the two streams alone, in nats. NaN for others.
    double derived = 0;
};
struct InterventionReady {
    QueryTag tag{};
    std::vector<InterventionRow> rows;
    double loss = 0; ///< of the unaltered network
    /// The divergence of a second unaltered pass from the first, at least the rounding of one logarithm, in nats; NaN
    /// without classes.
    double noise = 0;
    std::int64_t batches = 0;
    std::int64_t borderBytes = 0;   ///< as KnockoutReady's
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
struct TokeniserReady {
    QueryTag tag{};
    std::filesystem::path model; ///< the written file
    TrainedTokeniser tokeniser;
};
struct CheckpointFetched {
    QueryTag tag{};
    std::filesystem::path checkpoint; ///< its directory on this machine
    std::int64_t step = 0;
    std::int64_t bytes = 0;
    std::vector<std::string> notes = {}; ///< as SampleReady's
};
/// The progress of a query: either a share or a text. Sent at most about thirty times a second.
struct QueryProgress {
    QueryTag tag{};
    double share = -1;     ///< the fraction of the work that is done; negative if `text` is sent
    std::string text = {}; ///< a message for the user while the query is prepared
};
/// The run that a command names is at a place that the user's list lacks. The command's refusal follows. Programs only.
struct RemoteUnknown {
    QueryTag tag{}; ///< of the refused query; the default for a command that runs
    std::filesystem::path runDirectory;
    std::string place; ///< as the run records it
    std::filesystem::path folder;
    std::string formerCommand; ///< a command line that the run records and that has not been run; may be empty
};
struct QueryFailed {
    QueryTag tag{};
    Error error;
    /// All errors, one per line, if `error` names only the first: the tensors of an import that do not fit.
    std::vector<std::string> details = {};
    std::vector<std::string> notes = {}; ///< notes for the user from the work done until the error
};

using Event = std::variant<RunStarted, Progress, CheckpointWritten, RunPaused, RunContinued, RunEnded, Notice,
                           DevicesListed, SampleReady, EvaluationReady, RetrofitReady, FactoriseReady, ImportReady,
                           LoadWeightsReady, ExportReady, StabilityReady, KnockoutReady, InterventionReady, GapProgress,
                           GapReady, TokeniserReady, CheckpointFetched, RemoteUnknown, QueryProgress, QueryFailed>;

/// True for the events of a query that its answer follows.
template <class Told>
inline constexpr bool kIsProgress =
    std::is_same_v<Told, QueryProgress> || std::is_same_v<Told, GapProgress> || std::is_same_v<Told, RemoteUnknown>;

} // namespace residua::engine
