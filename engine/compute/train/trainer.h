// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/network/network.h"
#include "engine/compute/ranks/gradient_exchange.h"
#include "engine/compute/ranks/ranks.h"
#include "engine/compute/train/acting.h"
#include "engine/compute/train/loss_clipping.h"
#include "engine/compute/train/measures.h"
#include "engine/compute/train/metric_ring.h"
#include "engine/compute/train/optimiser.h"
#include "engine/compute/train/stage_course.h"
#include "engine/compute/train/step_graphs.h"
#include "engine/compute/train/weight_average.h"
#include "engine/data/sets/dataset.h"
#include "engine/runs/store/checkpoint.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// The objects that a trainer works with.
struct TrainerParts {
    projects::Project project;
    std::unique_ptr<Dataset> dataset;
    std::unique_ptr<CompiledNetwork> network;
    c10::Device device{c10::DeviceType::CPU};
    ReadingVersion reading = kNewestReading;
};

/// The source of the parameters' first values.
enum class FirstWeights {
    Initialised, ///< the document's initialisation
    Loaded,      ///< a checkpoint that is loaded next; until then the values are undefined
};

/// Opens the data, the device and the network of a valid project. `reading` is that of the run, if there is one. The
/// parts are those of the view of about.tower. Errors name the place.
[[nodiscard]] Result<TrainerParts> openParts(const projects::Project& project,
                                             const std::filesystem::path& projectDirectory, const std::string& device,
                                             FirstWeights weights = FirstWeights::Initialised,
                                             const PreparationWatches& watches = {}, const Reading& reading = {},
                                             const CompiledNetwork::About& about = {});

/// Trains a network: batches, loss, gradients, update. Independent of runs, metrics and events. Engine thread.
class Trainer {
public:
    /// With `ranks`, which must outlive it, each step is shared: this rank takes its part of every batch, and gradients
    /// and losses are means over the ranks. Null: it trains alone.
    explicit Trainer(TrainerParts parts, Ranks* ranks = nullptr);

    /// Returns the metrics of each rank (metric::kRank…) since the last call; empty without ranks.
    [[nodiscard]] std::vector<MetricRow> takeRankRows();
    /// Resumes from a checkpoint of this project: the following steps are bit-equal to those of a run that was never
    /// interrupted.
    [[nodiscard]] Status restore(const CheckpointFiles& checkpoint);
    /// Returns the data cursors in the checkpoint of a run without steps.
    [[nodiscard]] static std::map<std::string, std::string> firstCursors();
    /// On a rank but the first: sends the optimiser's states of its share to rank 0, which has asked by kRankStates.
    void sendStates() const { (void)m_optimiser.state(); }
    /// Completes the parameters' values of the other ranks, which rank 0 has asked for by kRankValues.
    void completeValues() const { m_optimiser.shares()->completeValues(); }
    /// Writes a complete checkpoint of the state after the last step. On rank 0 if there are several.
    [[nodiscard]] Status writeCheckpoint(const std::filesystem::path& runDirectory) const;

    /// Runs one optimiser step over `accumulate` micro-batches (or over all of the data). Only enqueues on a GPU. On an
    /// error of the data, the state is that before the step. `magnitudes` (may be null) receives the values of its
    /// passes and its gradients.
    [[nodiscard]] Status step(LayerMagnitudes* magnitudes = nullptr);
    /// Returns the steps since the last call. Their losses and norms stay on the device until then, for at most
    /// kMostWaiting steps; a further step throws.
    [[nodiscard]] std::vector<StepRecord> takeRecords();
    static constexpr std::int64_t kMostWaiting = 256;
    /// True if the last step's loss and norm are finite. Only on the CPU, before its record is taken.
    [[nodiscard]] bool isLastFinite() const { return m_ring.isLastFinite(); }
    /// Measures the state after the last step.
    [[nodiscard]] Result<Measured> measure(const Measure& measure);
    /// Crosses the border between stages before the next step: measures the losses on both sides and makes new layers.
    /// Returns nullopt if there is no border. Must be called before step(), also after a restore, because the
    /// checkpoint of a border's step has the state before the border.
    ///
    /// If steps draw the layers that they train, the losses are means over as many draws as a validation has batches.
    /// Batch b runs through the layers of step m − b, and through those of step m + 1 + b, with the same weights. The
    /// training batches are the next ones; without draws, one of them is enough. For a growing network, the record's
    /// note says whether its outputs on some examples of the next batch are unchanged.
    [[nodiscard]] Result<std::optional<StageRecord>> beginStage();
    /// True if the network has grown at a border but no step has followed. Its checkpoint must not be written: it would
    /// be taken for one before the border, and a run resumed from it would grow again.
    [[nodiscard]] bool isGrownAhead() const { return m_isGrownAhead; }

    [[nodiscard]] std::int64_t stepsDone() const { return m_step; }
    /// Returns the seconds spent in step(), in takeRecords() and at borders (without measuring the losses), including
    /// the time before a resume.
    [[nodiscard]] double seconds() const { return m_seconds; }
    [[nodiscard]] const projects::Project& project() const { return m_parts.project; }
    [[nodiscard]] const Dataset& dataset() const { return *m_parts.dataset; }
    [[nodiscard]] c10::Device device() const { return m_parts.device; }
    [[nodiscard]] CompiledNetwork& network() { return *m_parts.network; }
    [[nodiscard]] std::int64_t parameterCount() const;
    /// The recorded steps of a small network on a GPU.
    [[nodiscard]] const StepGraphs& graphs() const { return m_graphs; }
    /// Acting::whyAnew(); empty without a world.
    [[nodiscard]] std::string whyCollectedAnew() const { return m_acting ? m_acting->whyAnew() : std::string(); }
    /// Returns the number of tokens or samples in a step.
    [[nodiscard]] std::int64_t unitsPerStep() const;

private:
    /// The part of a micro-batch that is read: all of it, or that of this rank.
    enum class Part { Whole, OfRank };
    /// Reads the next micro-batch.
    [[nodiscard]] Status readNext(Batch& batch, Part part);
    /// Returns it on the device.
    [[nodiscard]] DeviceBatch uploaded(Batch& batch);
    /// Reads this rank's part of all micro-batches of a step, and sets m_weights.
    [[nodiscard]] Status readStep();
    /// Returns this rank's part of micro-batch `micro` on the device, as a part of the step of `pass`.
    [[nodiscard]] Result<DeviceBatch> partOfStep(std::int64_t micro, const Pass& pass);
    /// Returns the pass of training step `step`, with its use of layers.
    [[nodiscard]] Pass passOf(std::int64_t step);
    [[nodiscard]] TrainedState state();
    /// Returns a pass of evaluation for the layers that training step `step` trains.
    [[nodiscard]] Pass partOf(std::int64_t step);
    /// Passes the next `count` training batches to `use`, with their numbers from 0, without consuming them.
    [[nodiscard]] Status onNextBatches(std::int64_t count,
                                       const std::function<void(std::int64_t, const DeviceBatch&)>& use);
    /// Measures the losses on one side of a border, for training and for validation. `stepOfBatch` maps the number of a
    /// batch to the step whose layers it runs through.
    [[nodiscard]] Status takeLosses(std::int64_t trainingBatches,
                                    const std::function<std::int64_t(std::int64_t)>& stepOfBatch, double& train,
                                    double& validation);

    /// The course of a tower that runs.
    struct Course {
        std::size_t tower = 0;
        std::string name; ///< of a further tower: "tower encoder: "; else empty
        std::string output;
        StageCourse course;
    };
    [[nodiscard]] static std::vector<Course> coursesOf(const projects::Project& project);
    /// Returns the pass with the use of the layers of the course's tower.
    [[nodiscard]] Pass passOf(const Course& course, const Pass& pass);
    [[nodiscard]] bool drawsAt(std::int64_t step) const;

    /// A border at the present step, of a tower.
    struct Border {
        const Course& of;
        StageBorder border;
    };
    [[nodiscard]] std::vector<Border> bordersNow() const;
    /// Makes the new layers at the borders. Returns a description of them and of the effect on the towers' functions.
    [[nodiscard]] Result<std::string> growOver(const std::vector<Border>& borders);
    /// Computes the gradients of a step's micro-batches.
    [[nodiscard]] Status accumulateGradients(const Pass& pass);
    /// Adds the gradients of all groups of losses on a micro-batch. Returns the loss that judges, as `share` makes it.
    /// Calls `beforeLast`, unless it is empty, with that loss before the backward pass of the last group.
    at::Tensor addGradients(const DeviceBatch& batch, const Pass& training,
                            const std::function<at::Tensor(const at::Tensor&)>& share,
                            const std::function<void(const at::Tensor&)>& beforeLast = {});
    /// Replaces the buffers by their means over the ranks.
    void exchangeBuffers();

    /// True if what a step draws and averages depends on its examples alone, and not on their division into
    /// micro-batches and ranks. Runs of ReadingVersion::First draw and average by micro-batch and rank.
    [[nodiscard]] bool drawsByExample() const { return m_parts.reading != ReadingVersion::First; }

    TrainerParts m_parts;
    Ranks* m_ranks = nullptr; ///< null if this process trains alone
    projects::ExampleSchema m_schema;
    Optimiser m_optimiser;
    WeightAverage m_average;
    std::unique_ptr<Acting> m_acting;             ///< null unless the data are a world
    std::optional<LossClipping> m_clipping;       ///< nullopt if the optimiser clips the gradients of the step
    std::unique_ptr<GradientExchange> m_exchange; ///< null if this process trains alone
    BatchParts m_batchParts;                      ///< of the ranks
    std::vector<Course> m_courses;                ///< the first is that of the first tower, which always has one
    StepGraphs m_graphs;
    MetricRing m_ring;
    bool m_readsAhead = false;     ///< true if the number of targets differs by micro-batch
    LossGradient m_lossGradient;   ///< of a micro-batch: its part of the step's loss
    std::vector<Batch> m_batches;  ///< the last micro-batch, or those of a step
    std::vector<double> m_weights; ///< DeviceBatch::weight of each micro-batch, if they are read ahead
    DeviceBatch m_fullBatch;       ///< kept on the device if every step uses all of the data
    std::int64_t m_step = 0;
    std::int64_t m_draws = 0; ///< micro-batches drawn so far: the cursor into the data
    std::int64_t m_units = 0;
    double m_seconds = 0;
    std::optional<double> m_judged; ///< CheckpointState::judged
    bool m_isGrownAhead = false;
};

} // namespace residua::engine
