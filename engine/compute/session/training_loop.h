// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/session.h"
#include "engine/base/api/values.h"
#include "engine/compute/runtime/cuda_backend.h"
#include "engine/compute/train/observer.h"
#include "engine/compute/train/trainer.h"
#include "kernels/cuda_kernels.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// The work due after a step.
struct Due {
    bool observation = false;             ///< the network is observed
    std::vector<const Measure*> measures; ///< of kMeasures, in order
    bool checkpoint = false;              ///< the last step has a checkpoint without being due
    bool last = false;
    bool reading = false; ///< the losses on the device are read and checked; also set when one is found to be bad
    bool operator==(const Due&) const = default;
};
/// Returns the work due after a step. A function of the plan and the step's number only.
[[nodiscard]] Due dueAfter(const projects::TrainingPlan& plan, std::int64_t step);

/// The results of the steps since the last reading.
struct Findings {
    Progress progress; ///< without its run and its throughput
    /// The first step with a loss or gradient that is not finite. `progress` excludes this step and all later ones, and
    /// the loop must not be advanced further.
    std::optional<StepRecord> diverged;
};

/// The result of one step.
struct StepOutcome {
    Due due;
    std::optional<Findings> found; ///< set if a reading is due
    /// An error of the data: the step or its validation was not done. The weights are valid.
    Status status = Done{};
};

/// When a step's loss and norm are checked.
enum class LossLook {
    AtOnce,     ///< after the step, so that no step follows a diverged one
    AtReadings, ///< together with those of the waiting steps, because each check waits for the device
};

/// The part of a run that every process of a group executes identically: the steps, the validations, the check of the
/// losses, and the decision when each is due. Decisions depend on the step's number and, on the CPU, on its loss, never
/// on the clock. Writes no files and sends no events; records and the user's commands are handled by ActiveRun. Engine
/// thread.
class TrainingLoop {
public:
    /// Checks losses at once on the CPU, where this costs nothing.
    explicit TrainingLoop(std::unique_ptr<Trainer> trainer);
    TrainingLoop(std::unique_ptr<Trainer> trainer, LossLook look);

    /// Runs one step, the border of stages before it, and the work due after it.
    [[nodiscard]] StepOutcome advance();
    /// Reads the waiting results before a reading is due, to show them or to write a checkpoint. Waits for the device.
    [[nodiscard]] Findings read();
    /// Adds the network's current matrices to the next reading.
    void observe();
    /// Runs the due measures. Stops at the first error.
    [[nodiscard]] Status measure(const Due& due);

    [[nodiscard]] Trainer& trainer() { return *m_trainer; }
    [[nodiscard]] const Trainer& trainer() const { return *m_trainer; }
    [[nodiscard]] std::int64_t lastStep() const { return m_trainer->project().training.steps; }

private:
    /// Runs a step and sets the work due after it, if it succeeds.
    [[nodiscard]] Status step(Due& due);

    std::unique_ptr<Trainer> m_trainer;
    Observer m_observer;
    LossLook m_look;
    Progress m_waiting; ///< found since the last reading, except for the steps' losses
};

/// Returns a warning, in one line, if the project is predicted to need more memory than the device has free; else
/// empty.
[[nodiscard]] std::string memoryWarning(const projects::Project& project, const std::string& device);

/// Describes a failure of the engine's libraries to the user; for a lack of memory, with predicted and available
/// amounts.
[[nodiscard]] Error describe(const Failure& failure, const projects::Project& project, const std::string& device);

/// Returns a note if the custom kernels of `table` have made calls that move single elements since the counter was
/// `before` (CudaKernels::singleElementCalls); empty if not, and without a table.
[[nodiscard]] std::string slowKernelNote(const kernels::CudaKernels* table, std::uint64_t before);

} // namespace residua::engine
