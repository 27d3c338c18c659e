// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/session/training_loop.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace residua::engine {
namespace {

bool isTurn(std::int64_t every, std::int64_t step)
{
    return every > 0 && step % every == 0;
}

} // namespace

Due dueAfter(const projects::TrainingPlan& plan, std::int64_t step)
{
    Due due;
    due.last = step >= plan.steps;
    due.observation = isTurn(plan.observeEvery, step) || (plan.observeEvery > 0 && due.last);
    due.validation = isTurn(plan.validateEvery, step) || (plan.validateEvery > 0 && due.last);
    due.stability = isTurn(plan.stabilityEvery, step) || (plan.stabilityEvery > 0 && due.last);
    due.checkpoint = isTurn(plan.checkpointEvery, step) && !due.last;
    return due;
}

TrainingLoop::TrainingLoop(std::unique_ptr<Trainer> trainer)
    : m_trainer(std::move(trainer)), m_observer(m_trainer->network())
{
}

StepOutcome TrainingLoop::advance()
{
    StepOutcome outcome;
    const std::int64_t step = m_trainer->stepsDone() + 1;
    const Due due = dueAfter(m_trainer->project().training, step);
    Result<std::optional<StageRecord>> stage = m_trainer->beginStage();
    if (!stage) {
        outcome.status = stage.error();
        return outcome;
    }
    outcome.stage = std::move(*stage);
    outcome.status = m_trainer->step(due.observation ? m_observer.magnitudes() : nullptr);
    if (!outcome.status) {
        return outcome;
    }
    outcome.due = due;
    if (due.observation) {
        outcome.matrices = observe();
    }
    if (due.validation) {
        outcome.status = validate(outcome);
    }
    if (due.stability && outcome.status) {
        outcome.status = measureStability(outcome);
    }
    return outcome;
}

Status TrainingLoop::validate(StepOutcome& outcome)
{
    const std::int64_t step = m_trainer->stepsDone();
    const Result<std::optional<double>> loss = m_trainer->validate();
    if (!loss) {
        return loss.error();
    }
    if (*loss) {
        outcome.validation = ValidationRecord{step, **loss};
    }
    const Result<std::optional<double>> part = m_trainer->validateStage();
    if (!part) {
        return part.error();
    }
    if (*part) {
        outcome.stageValidation = ValidationRecord{step, **part};
    }
    Result<std::optional<Matrix>> degrees = m_trainer->degreeErrors();
    if (!degrees) {
        return degrees.error();
    }
    if (*degrees) {
        outcome.matrices.push_back(std::move(**degrees));
    }
    return Done{};
}

Status TrainingLoop::measureStability(StepOutcome& outcome)
{
    Result<std::vector<Matrix>> measured = m_trainer->stability();
    if (!measured) {
        return measured.error();
    }
    std::ranges::move(*measured, std::back_inserter(outcome.matrices));
    return Done{};
}

} // namespace residua::engine
