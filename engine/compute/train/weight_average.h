// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/files/tensor_files.h"
#include "engine/compute/init/named_parameter.h"
#include "engine/compute/train/tensor_io.h"
#include "engine/runs/store/checkpoint.h"
#include "projects/base/result.h"
#include "projects/model/training_plan.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace residua::engine {

/// The running mean m ← β·m + (1 − β)·w of a network's trained parameters (TrainingPlan::weightAverage), in their type.
/// It begins as the weights before the first step. Engine thread.
class WeightAverage {
public:
    /// `parameters` must outlive it. Keeps nothing if the plan has no running mean.
    WeightAverage(const projects::TrainingPlan& plan, std::vector<NamedParameter>& parameters);

    /// True if evaluations under the plan use the mean.
    [[nodiscard]] static bool isEvaluatedBy(const projects::TrainingPlan& plan);

    /// Begins again with the current weights.
    void restart();
    /// Takes the weights after a step into the mean.
    void update();
    /// Adds the means to the tensors of a checkpoint's optimiser, named "<parameter>.average".
    void addTo(HostTensors& tensors) const;
    /// Loads them. A checkpoint without means begins again with the weights if no step came before it; else it is an
    /// error.
    [[nodiscard]] Status load(const TensorFiles& stored, std::int64_t step);

    /// Gives the parameters the values of the mean, if the plan evaluates it, until its destruction.
    class Evaluated {
    public:
        explicit Evaluated(WeightAverage& average) : m_average(average) { m_average.exchange(); }
        ~Evaluated() { m_average.exchange(); }
        Evaluated(const Evaluated&) = delete;
        Evaluated& operator=(const Evaluated&) = delete;

    private:
        WeightAverage& m_average;
    };

private:
    void exchange();

    double m_decay;
    bool m_isEvaluated;
    std::vector<NamedParameter*> m_parameters; ///< those that are trained
    std::vector<at::Tensor> m_means;           ///< of these
};

/// Replaces the weights of a checkpoint by their running mean if the run's plan evaluates it; the optimiser's tensors
/// are then gone.
void takeEvaluatedWeights(CheckpointFiles& checkpoint, const projects::TrainingPlan& plan);

} // namespace residua::engine
