// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/dataset.h"
#include "engine/network/network.h"
#include "engine/runs/checkpoint.h"
#include "engine/train/degree_errors.h"
#include "engine/train/metric_ring.h"
#include "engine/train/optimiser.h"
#include "engine/train/stage_course.h"
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

/// What a trainer works with.
struct TrainerParts {
    projects::Project project;
    std::unique_ptr<Dataset> dataset;
    std::unique_ptr<CompiledNetwork> network;
    c10::Device device{c10::DeviceType::CPU};
};

/// Where the parameters' first numbers come from.
enum class FirstWeights {
    Initialised, ///< the document's initialisation
    Loaded,      ///< a checkpoint that is loaded next: until then they mean nothing
};

/// Opens the data, the device and the network of a project that validates. Errors name the place.
[[nodiscard]] Result<TrainerParts> openParts(const projects::Project& project,
                                             const std::filesystem::path& projectDirectory, const std::string& device,
                                             FirstWeights weights = FirstWeights::Initialised,
                                             const PreparationWatches& watches = {});

/// Steps a network: batches, loss, gradients, update. Knows nothing of runs, files of metrics or events. Engine thread.
class Trainer {
public:
    explicit Trainer(TrainerParts parts);

    /// Goes on from a checkpoint of this project: the steps that follow are bit-equal to those of a run that never
    /// stopped.
    [[nodiscard]] Status restore(const CheckpointFiles& checkpoint);
    /// What the checkpoint of a run that has done no step says of its place in the data.
    [[nodiscard]] static std::map<std::string, std::string> firstCursors();
    /// A complete checkpoint of the state after the last step.
    [[nodiscard]] Status writeCheckpoint(const std::filesystem::path& runDirectory) const;

    /// One optimiser step over `accumulate` micro-batches (or over all of the data). Only enqueues on a GPU. On an
    /// error of the data all is as it was before the step. `magnitudes`, if any, are told of its passes and gradients.
    [[nodiscard]] Status step(LayerMagnitudes* magnitudes = nullptr);
    /// The steps since the last call. Their losses and norms wait on the device until then, those of kMostWaiting steps
    /// at most: a further step throws.
    [[nodiscard]] std::vector<StepRecord> takeRecords();
    static constexpr std::int64_t kMostWaiting = 256;
    /// Whether the last step's loss and norm are finite. On the CPU, before its record is taken.
    [[nodiscard]] bool isLastFinite() const { return m_ring.isLastFinite(); }
    /// Mean loss on the first `validationBatches` of the validation split, of the whole network, or of one that grows
    /// as grown so far; nothing where the data has none.
    [[nodiscard]] Result<std::optional<double>> validate();
    /// The same of what the last steps have trained; nothing where that is the whole network.
    [[nodiscard]] Result<std::optional<double>> validateStage();
    /// How well each degree of a Boolean polynomial is learned (DegreeErrors); nothing of other data.
    [[nodiscard]] Result<std::optional<Matrix>> degreeErrors();
    /// What the network does without each of its layers (Stability); none where the data has no validation split.
    [[nodiscard]] Result<std::vector<Matrix>> stability();
    /// Goes over the border between stages that lies before the next step: takes the losses on both sides of it, and
    /// makes the layers that are new. Nothing where there is none. To be called before step(), also after a restore:
    /// the checkpoint of a border's step is of before it.
    ///
    /// Where steps draw what they train, the losses are means over as many draws as a validation has batches: batch b
    /// goes through what step m − b trains, and through what step m + 1 + b does, both without a change of weights. The
    /// training batches are the next ones; where nothing is drawn one of them is enough. Of a network that grows the
    /// record's note says whether its outputs on some of the next batch are those of before.
    [[nodiscard]] Result<std::optional<StageRecord>> beginStage();
    /// Whether the network has grown at a border after which no step was done. A checkpoint of it is not to be written:
    /// it would be taken for one of before the border, and what goes on from it would grow once more.
    [[nodiscard]] bool isGrownAhead() const { return m_isGrownAhead; }

    [[nodiscard]] std::int64_t stepsDone() const { return m_step; }
    /// Seconds spent in step(), in takeRecords() and at borders but for the losses that are taken there, those before a
    /// resume included.
    [[nodiscard]] double seconds() const { return m_seconds; }
    [[nodiscard]] const projects::Project& project() const { return m_parts.project; }
    [[nodiscard]] const Dataset& dataset() const { return *m_parts.dataset; }
    [[nodiscard]] c10::Device device() const { return m_parts.device; }
    [[nodiscard]] CompiledNetwork& network() { return *m_parts.network; }
    [[nodiscard]] std::int64_t parameterCount() const;
    /// Tokens or samples in a step.
    [[nodiscard]] std::int64_t unitsPerStep() const;

private:
    [[nodiscard]] Result<DeviceBatch> nextBatch();
    /// The pass of training step `step`, with what it leaves out.
    [[nodiscard]] Pass passOf(std::int64_t step);
    /// Mean validation loss; `passOfBatch` gives the pass of each batch, by its number.
    [[nodiscard]] Result<std::optional<double>> validationLoss(const std::function<Pass(std::int64_t)>& passOfBatch);
    /// Evaluation of what training step `step` trains.
    [[nodiscard]] Pass partOf(std::int64_t step);
    /// Gives `count` of the batches that are trained on next to `use`, with their numbers from 0, and takes none away.
    [[nodiscard]] Status onNextBatches(std::int64_t count,
                                       const std::function<void(std::int64_t, const DeviceBatch&)>& use);
    /// The losses on one side of a border, for training and for validation; `stepOfBatch` says by its number which step
    /// trains what a batch goes through.
    [[nodiscard]] Status takeLosses(std::int64_t trainingBatches,
                                    const std::function<std::int64_t(std::int64_t)>& stepOfBatch, double& train,
                                    double& validation);
    /// Makes what is new at the border. What has become of it, and of the network's function, in words.
    [[nodiscard]] Result<std::string> growOver(const StageBorder& border);
    /// The gradients of a step's micro-batches.
    [[nodiscard]] Status accumulateGradients(const Pass& pass);

    TrainerParts m_parts;
    projects::ExampleSchema m_schema;
    std::unique_ptr<Optimiser> m_optimiser;
    StageCourse m_course;
    std::optional<DegreeErrors> m_degrees;
    MetricRing m_ring;
    Batch m_batch;
    DeviceBatch m_fullBatch; ///< kept on the device where every step sees all of the data
    std::int64_t m_step = 0;
    std::int64_t m_draws = 0; ///< micro-batches drawn so far: the cursor into the data
    std::int64_t m_units = 0;
    double m_seconds = 0;
    std::optional<double> m_validationLoss; ///< the last
    bool m_isGrownAhead = false;
};

} // namespace residua::engine
