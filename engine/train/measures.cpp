// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/train/measures.h"

#include "engine/train/evaluation.h"
#include "engine/train/stability.h"

#include <algorithm>
#include <utility>

namespace residua::engine {
namespace {

/// Adds a row for each quantity, named after it and `split`.
Status addMeans(const TrainedState& state, const std::string& split,
                const std::function<Pass(std::int64_t)>& passOfBatch, Measured& measured)
{
    const Result<std::map<std::string, double>> means = validationMeans(state, passOfBatch);
    if (!means) {
        return means.error();
    }
    for (const auto& [quantity, mean] : *means) {
        measured.rows.push_back({quantity + "/" + split, state.step, mean});
    }
    return Done{};
}

} // namespace

Result<std::map<std::string, double>> validationMeans(const TrainedState& state,
                                                      const std::function<Pass(std::int64_t)>& passOfBatch)
{
    const projects::TrainingPlan& plan = state.project.training;
    if (state.dataset.size(Split::Validation) == 0) {
        return std::map<std::string, double>();
    }
    Evaluation evaluation(state.network, state.dataset, Split::Validation, plan, state.device, plan.validationBatches);
    while (!evaluation.atEnd()) {
        if (const Status added = evaluation.advance(passOfBatch(evaluation.batchesDone())); !added) {
            return added.error();
        }
    }
    return evaluation.means();
}

Status measureValidation(const TrainedState& state, Measured& measured)
{
    return addMeans(
        state, "validation", [&](std::int64_t) { return passAfter(state.step); }, measured);
}

Status measureStage(const TrainedState& state, Measured& measured)
{
    if (!state.drawsLayers) {
        return Done{};
    }
    // Each batch uses the layers of another one of the last steps, so the mean is over these draws too.
    const auto pass = [&](std::int64_t batch) { return state.partOf(std::max<std::int64_t>(state.step - batch, 1)); };
    return addMeans(state, "validation/stage", pass, measured);
}

Status measureStability(const TrainedState& state, Measured& measured)
{
    Stability stability(state.network, state.dataset, state.project, state.device,
                        state.project.training.validationBatches, state.step);
    while (!stability.atEnd()) {
        if (const Status added = stability.advance(); !added) {
            return added;
        }
    }
    for (Matrix& matrix : stability.matrices()) {
        measured.matrices.push_back(std::move(matrix));
    }
    return Done{};
}

} // namespace residua::engine
