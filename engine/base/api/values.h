// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/matrix_name.h"
#include "engine/base/api/reading.h"
#include "projects/model/objective.h"
#include "projects/studies/membership.h"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace residua::engine {

/// Identifies a run within this process. Every event carries it, so that stale events can be dropped.
enum class RunId : std::uint64_t {};

/// Identifies an interactive query; chosen by the caller. A newer query of the same kind replaces an older one, which
/// then answers QueryFailed.
enum class QueryTag : std::uint64_t {};

/// A device that runs can compute on.
struct DeviceInfo {
    std::string key;  ///< "cpu", "cuda:0": used in commands
    std::string name; ///< "CPU, 2 threads", "NVIDIA …"
    std::int64_t freeBytes = 0;
    std::int64_t totalBytes = 0;
    bool usable = false;
    std::string reason; ///< why not, in one line; empty if usable
    /// Why a usable GPU computes without the custom kernels, in one line; empty if it uses them.
    std::string withoutKernels;
    bool operator==(const DeviceInfo&) const = default;
};
/// Returns "custom kernels: in use", or in one line why they are not. Empty for the CPU and for an unusable GPU.
[[nodiscard]] std::string kernelsText(const DeviceInfo& device);

/// Represents a missing loss.
inline constexpr double kNoLoss = std::numeric_limits<double>::quiet_NaN();

/// One recorded training step.
struct StepRecord {
    std::int64_t step = 0; ///< 1-based: the state after this many steps
    double loss = 0;       ///< before the step's update; nats per token or squared error
    double learningRate = 0;
    double gradientNorm = 0; ///< before clipping
    std::int64_t tokens = 0; ///< tokens (or samples) seen so far, this step included
    double seconds = 0;      ///< training time so far, including the parts before a resume
    bool operator==(const StepRecord&) const = default;
};

/// The beginning of a stage of training, with four losses. "Before" is the loss of the layers that the last step of the
/// old stage trained, "after" that of the layers that the first step of the new stage trains. Both are measured at the
/// border, without a step in between: on the same batches and with the same weights, except for new layers.
/// "Train" losses are over batches of the training split, "validation" losses over the validation split. If steps draw
/// their layers, each is a mean over draws (Trainer::beginStage). NaN if not measured.
struct StageRecord {
    std::int64_t step = 0; ///< the last step before the stage
    std::string name;
    double trainBefore = kNoLoss;
    double trainAfter = kNoLoss;
    double validationBefore = kNoLoss;
    double validationAfter = kNoLoss;
    std::string note; ///< how the weights changed, and whether the function was preserved; empty if they did not change
};

/// Returns the text of the event that begins a stage: its name and, after a semicolon, its note.
[[nodiscard]] std::string stageText(const StageRecord& stage);
/// Parses the result of stageText() into name and note; step and losses are not in it.
[[nodiscard]] StageRecord stageFrom(std::string_view text);

/// Numbers recorded at one step; the name defines rows and columns. For shortcuts, row j − 1 is target j (1 to rows)
/// and column i is source i; NaN if there is no shortcut, and a mean if each feature or token has its own weight.
struct Matrix {
    MatrixName name;
    std::int64_t step = 0;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::vector<float> values; ///< row-major
    [[nodiscard]] float at(std::int64_t row, std::int64_t column) const
    {
        return values[static_cast<std::size_t>(row * columns + column)];
    }
};

/// Returns the names of the rows of a confusion matrix, which are those of its columns too: `classes`, or numbers from
/// 0 for those that have no name.
[[nodiscard]] std::vector<std::string> namesOfClasses(const Matrix& confusion, std::vector<std::string> classes);

/// Names of the recorded time series that code refers to. Others have a name made of a quantity of the objective and
/// the split that it is measured on: "accuracy/validation".
namespace metric {
inline constexpr const char* kLoss = "loss/train";
inline constexpr const char* kValidationLoss = "loss/validation";
inline constexpr const char* kStageLoss = "loss/validation/stage"; ///< of the layers that a step of the stage trains
inline constexpr const char* kStageTrainBefore = "stage/train/before"; ///< StageRecord's values, at its step
inline constexpr const char* kStageTrainAfter = "stage/train/after";
inline constexpr const char* kStageJump = "stage/train/jump"; ///< the difference of the two
inline constexpr const char* kStageValidationBefore = "stage/validation/before";
inline constexpr const char* kStageValidationAfter = "stage/validation/after";
inline constexpr const char* kLearningRate = "rate";
inline constexpr const char* kGradientNorm = "norm/gradient";
inline constexpr const char* kEnvironmentSteps = "environment_steps/train"; ///< that training has acted so far
inline constexpr const char* kUnits = "units";                              ///< tokens or samples seen so far
inline constexpr const char* kSeconds = "seconds";                          ///< training time so far
inline constexpr const char* kThroughput = "throughput";                    ///< units per second
inline constexpr const char* kPeakBytes = "memory/peak";
/// The beginnings of the names of a rank's series, which end with its number: units per second of its own time, and the
/// shares of a step's time in which it waits for other ranks or an exchange, and in which gradients are exchanged,
/// beside the backward pass or after it.
inline constexpr const char* kRankThroughput = "throughput/rank ";
inline constexpr const char* kRankWaiting = "waiting/rank ";
inline constexpr const char* kRankExchange = "exchange/rank ";
} // namespace metric

/// One value of a time series, recorded under one of these names.
struct MetricPoint {
    std::int64_t step = 0;
    double value = 0;
    bool operator==(const MetricPoint&) const = default;
};

/// A value of the time series `name` at a step.
struct MetricRow {
    std::string name;
    std::int64_t step = 0;
    double value = 0;
    bool operator==(const MetricRow&) const = default;
};

/// The recorded losses of a stage's beginning.
inline constexpr std::pair<const char*, double StageRecord::*> kStageMetrics[] = {
    {metric::kStageTrainBefore, &StageRecord::trainBefore},
    {metric::kStageTrainAfter, &StageRecord::trainAfter},
    {metric::kStageValidationBefore, &StageRecord::validationBefore},
    {metric::kStageValidationAfter, &StageRecord::validationAfter},
};

/// The recorded values of a step, except for its tokens (metric::kUnits).
inline constexpr std::pair<const char*, double StepRecord::*> kStepMetrics[] = {
    {metric::kLoss, &StepRecord::loss},
    {metric::kLearningRate, &StepRecord::learningRate},
    {metric::kGradientNorm, &StepRecord::gradientNorm},
    {metric::kSeconds, &StepRecord::seconds},
};

enum class RunStatus {
    Running,
    Paused,
    Finished,    ///< all planned steps done
    Stopped,     ///< by the user; resumable
    Failed,      ///< with an error; resumable from its last checkpoint
    Interrupted, ///< marked as running, but no process holds it: it was killed
};
[[nodiscard]] std::string textOf(RunStatus status);

/// The contents of run.json, for lists. The recorded numbers are in the run's store.
struct RunInfo {
    std::string directory;
    std::string name;
    std::string created; ///< UTC, ISO 8601
    RunStatus status = RunStatus::Running;
    std::string message; ///< the error of a failed run
    std::string device;
    std::int64_t threads = 0; ///< CPU threads, for a run on the CPU; 0: unknown. Sums are split by their number
    std::int64_t step = 0;
    std::int64_t steps = 0;
    projects::Objective objective = projects::Objective::NextToken;
    std::map<std::string, double> values; ///< the last value of each metric that rates the run (isRating)
    std::string parent;                   ///< the directory of the run that it was forked from; empty if none
    std::int64_t parentStep = 0;
    std::vector<std::string> tags;
    std::string notes;
    std::optional<projects::Membership> membership; ///< nullopt if the run belongs to no sweep
    std::vector<std::string> classes;               ///< names by number; empty if the data have none
    ReadingVersion reading = kNewestReading;
    std::string place; ///< the name of the place that the run is at; empty: this machine

    /// Returns the last value of a metric that rates the run; NaN before the first.
    [[nodiscard]] double last(const std::string& name) const;
    [[nodiscard]] double loss() const { return last(metric::kLoss); }
    [[nodiscard]] double validationLoss() const { return last(metric::kValidationLoss); }
    /// Returns the last value of "<quantity>/validation", or of "<quantity>/train" if that is not finite.
    [[nodiscard]] double rating(std::string_view quantity) const;
    [[nodiscard]] const projects::Judge& judge() const { return projects::traitsOf(objective).judge; }
    /// Returns the rating in the quantity that the run is judged by.
    [[nodiscard]] double judged() const;
};

enum class RunEventKind {
    Checkpoint, ///< a checkpoint was written
    Paused,
    Continued, ///< after a pause
    Resumed,   ///< by another process, from a checkpoint
    Forked,
    Retrofitted,
    Imported,  ///< its first weights come from elsewhere
    Stage,     ///< a stage begins; the text is its name and how the weights changed (stageText)
    OtherData, ///< the run continues with other data than it was trained on
    Kernels,   ///< the GPU computes without the custom kernels, or without recorded steps; the text says why
    Store,     ///< a repair of the store
    Measured,  ///< a quantity was measured after the training, and recorded
    Finished,
    Stopped,
    Failed,
    Other, ///< from another program; the text begins with its word
};
/// Returns the word in a store: "checkpoint", "other data".
[[nodiscard]] std::string textOf(RunEventKind kind);

/// Something that happened to a run, at a step.
struct RunEvent {
    std::int64_t step = 0;
    RunEventKind kind = RunEventKind::Other;
    std::string text;
    bool operator==(const RunEvent&) const = default;
};
/// Makes an event from its row in a store.
[[nodiscard]] RunEvent runEventFrom(std::int64_t step, const std::string& kind, std::string text);

/// How a time series is shown.
struct MetricTraits {
    std::string name;
    std::string title;
    std::string unit = {}; ///< of the shown values; empty if the title says it
    double scale = 1;      ///< a shown value is a recorded one multiplied by this (shownPoints)
};

/// True if the last value of the metric rates a run: a quantity of training or validation, as "accuracy/validation".
[[nodiscard]] bool isRating(std::string_view name);
/// True if every value of the metric is a share of a whole, in 0..1: an accuracy, an F1 score, a share of the time.
[[nodiscard]] bool isShare(std::string_view name);
/// Returns the metrics with a plot of their own: first those of every run, then those among `names` that measure a
/// further quantity of the objective, and those of several ranks. The loss has its own view.
[[nodiscard]] std::vector<MetricTraits> plottedMetrics(const std::set<std::string>& names);
/// Returns recorded points of a metric as they are shown.
[[nodiscard]] std::vector<MetricPoint> shownPoints(std::string_view name, std::vector<MetricPoint> points);
/// Returns the metrics, except for losses, that rate one of the runs, as columns of a table.
[[nodiscard]] std::vector<MetricTraits> ratingColumns(std::span<const RunInfo> runs);

} // namespace residua::engine
