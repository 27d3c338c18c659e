// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/session/training_loop.h"

#include "engine/base/api/rank_position.h"
#include "engine/base/api/run_progress.h"
#include "engine/compute/runtime/device.h"
#include "projects/base/text.h"
#include "projects/cost/cost.h"

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
    for (const Measure& measure : kMeasures) {
        if (isTurn(plan.*measure.every, step) || (plan.*measure.every > 0 && due.last)) {
            due.measures.push_back(&measure);
        }
    }
    due.checkpoint = isTurn(plan.checkpointEvery, step) && !due.last;
    due.reading = due.checkpoint || due.last || isTurn(Trainer::kMostWaiting, step);
    return due;
}

TrainingLoop::TrainingLoop(std::unique_ptr<Trainer> trainer)
    : m_trainer(std::move(trainer)),
      m_observer(m_trainer->network()),
      m_look(m_trainer->device().is_cpu() ? LossLook::AtOnce : LossLook::AtReadings)
{
}

TrainingLoop::TrainingLoop(std::unique_ptr<Trainer> trainer, LossLook look) : TrainingLoop(std::move(trainer))
{
    m_look = look;
}

StepOutcome TrainingLoop::advance()
{
    StepOutcome outcome;
    outcome.status = step(outcome.due);
    if (outcome.due.reading) {
        outcome.found = read();
    }
    return outcome;
}

Status TrainingLoop::step(Due& due)
{
    const Due after = dueAfter(m_trainer->project().training, m_trainer->stepsDone() + 1);
    std::optional<StageRecord> stage = RESIDUA_TRY(m_trainer->beginStage());
    if (stage) {
        m_waiting.stages.push_back(std::move(*stage));
    }
    RESIDUA_TRY(m_trainer->step(after.observation ? m_observer.magnitudes() : nullptr));
    due = after;
    if (m_look == LossLook::AtOnce && !m_trainer->isLastFinite()) {
        due.reading = true; // the state after this step is not measured
        return Done{};
    }
    if (due.observation) {
        observe();
    }
    return measure(due);
}

Findings TrainingLoop::read()
{
    Findings found{std::exchange(m_waiting, {}), {}};
    Progress& progress = found.progress;
    progress.steps = m_trainer->takeRecords();
    const auto bad = std::ranges::find_if(
        progress.steps, [](const StepRecord& record) { return !isFiniteStep(record.loss, record.gradientNorm); });
    if (bad == progress.steps.end()) {
        return found;
    }
    found.diverged = *bad;
    // With LossLook::AtReadings, the clock decides how many further steps were done before this was seen.
    eraseRecords(progress, [step = bad->step](const auto& record) { return record.step >= step; });
    return found;
}

void TrainingLoop::observe()
{
    std::ranges::move(m_observer.observe(m_trainer->stepsDone()), std::back_inserter(m_waiting.matrices));
}

Status TrainingLoop::measure(const Due& due)
{
    for (const Measure* const measure : due.measures) {
        Measured measured = RESIDUA_TRY(m_trainer->measure(*measure));
        std::ranges::move(measured.rows, std::back_inserter(m_waiting.rows));
        std::ranges::move(measured.matrices, std::back_inserter(m_waiting.matrices));
    }
    return Done{};
}

namespace {

std::string gibibytes(double bytes)
{
    return fixedText(bytes / (1024.0 * 1024.0 * 1024.0), 2) + " GiB";
}

struct Need {
    double bytes = 0;
    std::string text;
};

Need predicted(const projects::Project& project, const std::string& device)
{
    const Result<std::optional<RankPosition>> place = rankPosition();
    const Result<projects::CostReport> report =
        projects::costOf(project, projects::deviceKindOf(device), place && *place ? (*place)->count : 1);
    if (!report) {
        return {};
    }
    const projects::Cost& total = report->total;
    Need need{total.memoryBytes(), {}};
    need.text = "predicted " + gibibytes(need.bytes) + " (weights " + gibibytes(total.weightBytes) + ", optimiser " +
                gibibytes(total.optimiserBytes) + ", activations " + gibibytes(total.activationBytes) + ", loss " +
                gibibytes(total.lossBytes) + ")";
    return need;
}

/// True if other programs use enough of a GPU's memory to mention it; a driver's own part is a few percent.
bool isFilled(const DeviceMemory& memory)
{
    return memory.othersBytes > memory.totalBytes / 8;
}

std::string available(const DeviceMemory& memory)
{
    return gibibytes(static_cast<double>(memory.freeBytes)) + " of " +
           gibibytes(static_cast<double>(memory.totalBytes)) + " free" +
           (isFilled(memory) ? ", other programs hold " + gibibytes(static_cast<double>(memory.othersBytes)) : "");
}

std::string remedy(const DeviceMemory& memory)
{
    return std::string(isFilled(memory) ? "end those programs, take another device, or " : "") +
           "make the micro-batch, the sequence or the network smaller, or accumulate";
}

} // namespace

std::string memoryWarning(const projects::Project& project, const std::string& device)
{
    const Result<c10::Device> opened = openDevice(device);
    if (!opened) {
        return {};
    }
    const DeviceMemory memory = memoryOf(*opened);
    const Need need = predicted(project, device);
    if (need.bytes <= static_cast<double>(memory.freeBytes)) {
        return {};
    }
    return "memory on " + device + " may not suffice: " + need.text + ", " + available(memory) + "; " + remedy(memory);
}

Error describe(const Failure& failure, const projects::Project& project, const std::string& device)
{
    if (failure.kind == Failure::Kind::Other) {
        return {"engine · " + device, failure.text};
    }
    const Result<c10::Device> opened = openDevice(device);
    std::optional<DeviceMemory> memory;
    // A full GPU may refuse even this query.
    static_cast<void>(attempt([&] { memory = opened ? std::optional(memoryOf(*opened)) : std::nullopt; }));
    return {"device " + device, "out of memory: " + predicted(project, device).text +
                                    (memory ? ", " + available(*memory) : "") + "; " +
                                    remedy(memory.value_or(DeviceMemory{})) + " (" + failure.text + ")"};
}

std::string slowKernelNote(const kernels::CudaKernels* table, std::uint64_t before)
{
    const bool isSlow = table != nullptr && table->singleElementCalls() > before;
    return isSlow
               ? "some mixes move one element at a time, several times slower: widths that are multiples of 8 avoid it"
               : "";
}

} // namespace residua::engine
