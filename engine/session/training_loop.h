// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/session.h"
#include "engine/api/values.h"
#include "engine/observe/observer.h"
#include "engine/train/trainer.h"
#include "projects/base/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace residua::engine {

/// What is due after a step.
struct Due {
    bool observation = false; ///< the network is looked at
    bool validation = false;
    bool stability = false;  ///< the network is measured without each of its layers
    bool checkpoint = false; ///< the last step has one without being due
    bool last = false;
    bool reading =
        false; ///< the losses that wait on the device are read and looked at; also where one is seen to be bad
    bool operator==(const Due&) const = default;
};
/// A function of the plan and the step's number alone.
[[nodiscard]] Due dueAfter(const projects::TrainingPlan& plan, std::int64_t step);

/// What the steps since the last reading have found.
struct Findings {
    Progress progress; ///< without its run and its figures
    /// The first step whose loss or gradient is not a finite number. Of it, and of all that came after it, `progress`
    /// has nothing; the loop is not to be advanced any further.
    std::optional<StepRecord> diverged;
};

/// What comes of one step.
struct StepOutcome {
    Due due;
    std::optional<Findings> found; ///< where a reading is due
    /// An error of the data: the step was not done, or its validation was not. The weights are sound.
    Status status = Done{};
};

/// When a step's loss and norm are looked at.
enum class LossLook {
    AtOnce,     ///< after the step: none follows one that diverges
    AtReadings, ///< with those of the steps that wait, since each look waits for the device
};

/// The part of a run that every process of a group runs alike: the steps, the validations, the check of the losses, and
/// when each is due. It decides by the step's number and, on the CPU, by its loss, never by the clock; it writes
/// nothing and tells nobody. What keeps records, and what a person asks for between two steps, is ActiveRun's. Engine
/// thread.
class TrainingLoop {
public:
    /// Looks at losses at once on the CPU, where that costs nothing.
    explicit TrainingLoop(std::unique_ptr<Trainer> trainer);
    TrainingLoop(std::unique_ptr<Trainer> trainer, LossLook look);

    /// One step, the border of stages before it, and what is due after it.
    [[nodiscard]] StepOutcome advance();
    /// Reads what waits before a reading is due, to show it or to write a checkpoint. Waits for the device.
    [[nodiscard]] Findings read();
    /// The next reading has the network's matrices as they are now, too.
    void observe();
    /// The same of the validation and of the stability, those of them that are due. The first error ends it.
    [[nodiscard]] Status measure(const Due& due);

    [[nodiscard]] Trainer& trainer() { return *m_trainer; }
    [[nodiscard]] const Trainer& trainer() const { return *m_trainer; }
    [[nodiscard]] std::int64_t lastStep() const { return m_trainer->project().training.steps; }

private:
    /// Tells what is due after the step, where it was done.
    [[nodiscard]] Status step(Due& due);
    [[nodiscard]] Status validate();
    [[nodiscard]] Status measureStability();

    std::unique_ptr<Trainer> m_trainer;
    Observer m_observer;
    LossLook m_look;
    Progress m_waiting; ///< found since the last reading, but for the steps' losses
};

} // namespace residua::engine
