// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/train/measures.h"

#include "engine/compute/train/stability.h"

#include <algorithm>
#include <utility>

namespace residua::engine {
namespace {

/// Adds a row for each quantity, named after it and `split`.
void addRows(const Evaluation& evaluation, std::int64_t step, const std::string& split, Measured& measured)
{
    for (const auto& [quantity, mean] : evaluation.means()) {
        measured.rows.push_back({quantity + "/" + split, step, mean});
    }
}

} // namespace

Result<Evaluation> evaluateValidation(const TrainedState& state, const std::function<Pass(std::int64_t)>& passOfBatch)
{
    const projects::TrainingPlan& plan = state.project.training;
    Evaluation evaluation(state.network, state.dataset, Split::Validation, plan, state.device, plan.validationBatches);
    while (!evaluation.atEnd() && state.dataset.size(Split::Validation) > 0) {
        RESIDUA_TRY(evaluation.advance(passOfBatch(evaluation.batchesDone())));
    }
    return evaluation;
}

Status measureValidation(const TrainedState& state, Measured& measured)
{
    const Evaluation evaluation =
        RESIDUA_TRY(evaluateValidation(state, [&](std::int64_t) { return passAfter(state.step); }));
    addRows(evaluation, state.step, "validation", measured);
    if (std::optional<Matrix> confusion = evaluation.confusion(state.step)) {
        measured.matrices.push_back(std::move(*confusion));
    }
    return Done{};
}

Status measureStage(const TrainedState& state, Measured& measured)
{
    if (!state.drawsLayers) {
        return Done{};
    }
    // Each batch uses the layers of another one of the last steps, so the mean is over these draws too.
    const Result<Evaluation> evaluation = evaluateValidation(
        state, [&](std::int64_t batch) { return state.partOf(std::max<std::int64_t>(state.step - batch, 1)); });
    if (evaluation) {
        addRows(*evaluation, state.step, "validation/stage", measured);
    }
    return evaluation ? Status(Done{}) : evaluation.error();
}

Status measureStability(const TrainedState& state, Measured& measured)
{
    Stability stability(state.network, state.dataset, state.project, state.device,
                        state.project.training.validationBatches, state.step);
    while (!stability.atEnd()) {
        RESIDUA_TRY(stability.advance());
    }
    for (Matrix& matrix : stability.matrices()) {
        measured.matrices.push_back(std::move(matrix));
    }
    return Done{};
}

} // namespace residua::engine
