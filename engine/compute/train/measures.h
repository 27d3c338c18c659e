// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"
#include "engine/compute/network/network.h"
#include "engine/compute/train/evaluation.h"
#include "engine/data/sets/dataset.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace residua::engine {

/// The state of a training after a step.
struct TrainedState {
    CompiledNetwork& network;
    const Dataset& dataset;
    const projects::Project& project;
    c10::Device device;
    std::int64_t step = 0;
    bool drawsLayers = false; ///< true if the last step drew the layers that it trained
    /// Returns a pass of evaluation for the layers that a training step trains.
    std::function<Pass(std::int64_t step)> partOf = {};
};

/// The values of one state of a training.
struct Measured {
    std::vector<MetricRow> rows;
    std::vector<Matrix> matrices;
};

/// A measurement between two training steps. It does not change the following steps.
struct Measure {
    const char* record = nullptr; ///< a metric or matrix that it records
    /// The plan's number of steps between two measurements, one of which follows the last step; 0: none.
    std::int64_t projects::TrainingPlan::*every = nullptr;
    /// Adds the measured values. Adds none if the project or its data lack what is measured.
    Status (*measure)(const TrainedState& state, Measured& measured) = nullptr;
};

/// Measures the objective's quantities of the whole network (of a growing network, as grown so far) on the first
/// `validationBatches` of the validation split, and matrix::kConfusion if the objective has it.
[[nodiscard]] Status measureValidation(const TrainedState& state, Measured& measured);
/// Measures them of the layers that the last steps have trained, if that is not the whole network.
[[nodiscard]] Status measureStage(const TrainedState& state, Measured& measured);
/// Measures how well the whole network has learned each degree of a Boolean polynomial: Σ(c − ĉ)²/Σc² over its terms,
/// with ĉ = E[F(x)·χ_S(x)] (RaPTr, section 3), on the first batches of the validation split. Estimates the expectation
/// of c − ĉ by the mean of (f*(x) − F(x))·χ_S(x), and its square without the bias of a finite sample, so that an error
/// near 0 may come out negative.
[[nodiscard]] Status measureDegrees(const TrainedState& state, Measured& measured);
/// Acts for an episode in several worlds (actEpisodes), if the data are a world: kTimeAtGoal,
/// "reached_goal/validation", metric::kEnvironmentSteps (those that training has acted) and matrix::kRollout.
[[nodiscard]] Status measureActing(const TrainedState& state, Measured& measured);
inline constexpr const char* kTimeAtGoal = "time_at_goal/validation";
/// Makes kSampledImages images of each class in turn, always from the same noise, if the network makes images:
/// matrix::kSamples. Defined in image_generation.cpp.
[[nodiscard]] Status measureSamples(const TrainedState& state, Measured& measured);
/// Measures the effect of leaving out each layer (Stability).
[[nodiscard]] Status measureStability(const TrainedState& state, Measured& measured);

/// All measures, in the order in which they are taken.
inline constexpr Measure kMeasures[] = {
    {metric::kValidationLoss, &projects::TrainingPlan::validateEvery, measureValidation},
    {metric::kStageLoss, &projects::TrainingPlan::validateEvery, measureStage},
    {matrix::kDegreeErrors, &projects::TrainingPlan::validateEvery, measureDegrees},
    {kTimeAtGoal, &projects::TrainingPlan::validateEvery, measureActing},
    {matrix::kSamples, &projects::TrainingPlan::validateEvery, measureSamples},
    {matrix::kStability, &projects::TrainingPlan::stabilityEvery, measureStability},
};

/// Evaluates the objective's quantities on the first `validationBatches` of the validation split, which may be empty.
/// `passOfBatch` returns the pass of each batch by its number. The state's network and data must outlive the result.
[[nodiscard]] Result<Evaluation> evaluateValidation(const TrainedState& state,
                                                    const std::function<Pass(std::int64_t)>& passOfBatch);

} // namespace residua::engine
