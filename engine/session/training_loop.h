// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "engine/observe/observer.h"
#include "engine/train/trainer.h"
#include "projects/base/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace residua::engine {

/// What is due after a step by the plan.
struct Due {
    bool observation = false; ///< the network is looked at
    bool validation = false;
    bool stability = false;  ///< the network is measured without each of its layers
    bool checkpoint = false; ///< the last step has one without being due
    bool last = false;
    bool operator==(const Due&) const = default;
};
/// A function of the plan and the step's number alone.
[[nodiscard]] Due dueAfter(const projects::TrainingPlan& plan, std::int64_t step);

/// What one step has found.
struct StepOutcome {
    Due due;
    std::vector<Matrix> matrices; ///< of what was looked at and measured
    std::optional<ValidationRecord> validation;
    std::optional<ValidationRecord> stageValidation; ///< of what the step trains, where that is less
    std::optional<StageRecord> stage;                ///< that began with the step
    /// An error of the data: the step was not done, or its validation was not. The weights are sound.
    Status status = Done{};
};

/// The part of a run that every process of a group runs alike: the steps, the validations, and when each is due. It
/// decides by the step's number, never by the clock; it writes nothing and tells nobody. What keeps records, and what a
/// person asks for between two steps, is ActiveRun's. Engine thread.
class TrainingLoop {
public:
    explicit TrainingLoop(std::unique_ptr<Trainer> trainer);

    /// One step, the border of stages before it, and what is due after it.
    [[nodiscard]] StepOutcome advance();
    /// The network's matrices as it is now.
    [[nodiscard]] std::vector<Matrix> observe() { return m_observer.observe(m_trainer->stepsDone()); }

    [[nodiscard]] Trainer& trainer() { return *m_trainer; }
    [[nodiscard]] const Trainer& trainer() const { return *m_trainer; }
    [[nodiscard]] std::int64_t lastStep() const { return m_trainer->project().training.steps; }

private:
    [[nodiscard]] Status validate(StepOutcome& outcome);
    [[nodiscard]] Status measureStability(StepOutcome& outcome);

    std::unique_ptr<Trainer> m_trainer;
    Observer m_observer;
};

} // namespace residua::engine
