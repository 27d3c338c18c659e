// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/matrix_name.h"
#include "projects/studies/membership.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// Identifies a run within this process. Every event carries it, so that stale ones can be dropped.
enum class RunId : std::uint64_t {};

/// Chosen by the asker of an interactive query; a newer query of the same kind replaces an older one, which then gets a
/// QueryFailed.
enum class QueryTag : std::uint64_t {};

/// Where a run computes.
struct DeviceInfo {
    std::string key;  ///< "cpu", "cuda:0": what commands take
    std::string name; ///< "CPU, 2 threads", "NVIDIA …"
    std::int64_t freeBytes = 0;
    std::int64_t totalBytes = 0;
    bool usable = false;
    std::string reason; ///< why not, in one line; empty when usable
    /// Why a usable GPU computes without our kernels, in one line; empty if it uses them.
    std::string withoutKernels;
    bool operator==(const DeviceInfo&) const = default;
};
/// "custom kernels: in use", or why they are not, in one line. Empty for the CPU and for a GPU that is not usable.
[[nodiscard]] std::string kernelsText(const DeviceInfo& device);

/// Stands for a loss that there is not.
inline constexpr double kNoLoss = std::numeric_limits<double>::quiet_NaN();

/// One training step as recorded.
struct StepRecord {
    std::int64_t step = 0; ///< 1-based: the state after so many steps
    double loss = 0;       ///< before the step's update; nats per token or squared error
    double learningRate = 0;
    double gradientNorm = 0; ///< before clipping
    std::int64_t tokens = 0; ///< tokens (or samples) seen so far, this step included
    double seconds = 0;      ///< training time so far, resumed parts added up
    bool operator==(const StepRecord&) const = default;
};

struct ValidationRecord {
    std::int64_t step = 0;
    double loss = 0;
    bool operator==(const ValidationRecord&) const = default;
};

/// The beginning of a stage of training, with four losses. "Before" is the loss of the layers that the last step of the
/// old stage trained, "after" that of the layers that the first step of the new one trains. Both are taken at the
/// border, without a step between them: the weights are the same, but for layers that are new, and so are the batches.
/// "Train" is over batches of the training split, "validation" of the validation split. Where steps draw their layers,
/// each is a mean over draws (Trainer::beginStage). A loss that was not taken is NaN.
struct StageRecord {
    std::int64_t step = 0; ///< the last step before it
    std::string name;
    double trainBefore = kNoLoss;
    double trainAfter = kNoLoss;
    double validationBefore = kNoLoss;
    double validationAfter = kNoLoss;
    std::string note; ///< what became of the weights, and whether the function was kept; empty: nothing became of them
};

/// Numbers at one step; the name says what rows and columns are. Of shortcuts: row = target j − 1 for j in 1..rows,
/// column = source i in 0..columns − 1; NaN where there is no shortcut; means where each feature or token has its own.
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

/// Names of the recorded time series.
namespace metric {
inline constexpr const char* kLoss = "loss/train";
inline constexpr const char* kValidationLoss = "loss/validation";
inline constexpr const char* kStageLoss = "loss/validation/stage";     ///< of what a step of the stage trains
inline constexpr const char* kStageTrainBefore = "stage/train/before"; ///< StageRecord's, at its step
inline constexpr const char* kStageTrainAfter = "stage/train/after";
inline constexpr const char* kStageJump = "stage/train/jump"; ///< the difference
inline constexpr const char* kStageValidationBefore = "stage/validation/before";
inline constexpr const char* kStageValidationAfter = "stage/validation/after";
inline constexpr const char* kLearningRate = "rate";
inline constexpr const char* kGradientNorm = "norm/gradient";
inline constexpr const char* kUnits = "units";           ///< tokens or samples seen so far
inline constexpr const char* kSeconds = "seconds";       ///< training time so far
inline constexpr const char* kThroughput = "throughput"; ///< units per second
inline constexpr const char* kPeakBytes = "memory/peak";
} // namespace metric

/// One number of a time series, recorded under one of these names.
struct MetricPoint {
    std::int64_t step = 0;
    double value = 0;
    bool operator==(const MetricPoint&) const = default;
};

enum class RunStatus {
    Running,
    Paused,
    Finished,    ///< all planned steps done
    Stopped,     ///< by a person; resumable
    Failed,      ///< with an error; resumable from its last checkpoint
    Interrupted, ///< marked running, but no process holds it: killed
};
[[nodiscard]] std::string textOf(RunStatus status);

/// run.json: what a run is, for lists. The numbers are in its store.
struct RunInfo {
    std::string directory;
    std::string name;
    std::string created; ///< UTC, ISO 8601
    RunStatus status = RunStatus::Running;
    std::string message; ///< the error of a failed run
    std::string device;
    std::int64_t threads = 0; ///< of the processor, for a run on it; 0: not known. Sums are split by their number
    std::int64_t step = 0;
    std::int64_t steps = 0;
    double loss = kNoLoss;           ///< the last training loss; NaN before the first
    double validationLoss = kNoLoss; ///< the last; NaN before the first
    std::string parent;              ///< run directory it was forked from; empty if none
    std::int64_t parentStep = 0;
    std::vector<std::string> tags;
    std::string notes;
    std::optional<projects::Membership> membership; ///< none: the run is of no sweep
};

enum class RunEventKind {
    Checkpoint, ///< one was written
    Paused,
    Continued, ///< after a pause
    Resumed,   ///< by another process, from a checkpoint
    Forked,
    Retrofitted,
    Imported,  ///< its first weights come from elsewhere
    Stage,     ///< one begins; the text is its name, and what became of the weights (stageText)
    OtherData, ///< the run goes on with data that are not what it was trained on
    Kernels,   ///< the GPU computes without our kernels; the text says why
    Store,     ///< what had to be done to the store
    Finished,
    Stopped,
    Failed,
    Other, ///< of another program; its word begins the text
};
/// As a store keeps it: "checkpoint", "other data".
[[nodiscard]] std::string textOf(RunEventKind kind);

/// Something that happened to a run, at a step.
struct RunEvent {
    std::int64_t step = 0;
    RunEventKind kind = RunEventKind::Other;
    std::string text;
    bool operator==(const RunEvent&) const = default;
};
/// An event from what a store keeps of it.
[[nodiscard]] RunEvent runEventFrom(std::int64_t step, const std::string& kind, std::string text);

} // namespace residua::engine
