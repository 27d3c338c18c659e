// SPDX-License-Identifier: GPL-3.0-or-later
// The borders between stages of a training.
#include "engine/compute/train/batches.h"
#include "engine/compute/train/evaluation.h"
#include "engine/compute/train/stopwatch.h"
#include "engine/compute/train/tensor_io.h"
#include "engine/compute/train/trainer.h"
#include "projects/base/text.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <utility>

namespace residua::engine {
namespace {

/// The number of examples for comparing the outputs before and after growth; a whole batch would be held twice.
constexpr std::int64_t kMostCompared = 4;

/// Returns the difference of outputs, relative to the largest, that rounding of sums can cause in equal functions.
double roundingOf(projects::Precision precision)
{
    switch (precision) {
    case projects::Precision::Fp64:
        return 1e-12;
    case projects::Precision::Fp32:
        return 1e-5;
    case projects::Precision::Bf16:
        return 2e-2;
    case projects::Precision::Fp8:
        return 1e-1;
    }
    return 0;
}

/// Describes whether the network's outputs on one batch are the same before and after it has grown. `meant` says
/// whether they should be.
std::string keptText(const at::Tensor& before, const at::Tensor& after, projects::Precision precision, bool meant)
{
    const double apart = (after.to(at::kDouble) - before.to(at::kDouble)).abs().max().item<double>();
    const double largest = before.to(at::kDouble).abs().max().item<double>();
    if (apart == 0) {
        return "the function is kept";
    }
    if (apart <= roundingOf(precision) * largest) {
        return "the function is kept up to rounding";
    }
    return std::string("the function is not kept") + (meant ? ", although what is new counts nothing at first" : "") +
           ": outputs differ by up to " + numberText(apart, 3) + ", the largest was " + numberText(largest, 3);
}

} // namespace

Pass Trainer::partOf(std::int64_t step)
{
    Pass pass = passOf(step);
    pass.mode = Mode::Evaluation;
    return pass;
}

Status Trainer::onNextBatches(std::int64_t count, const std::function<void(std::int64_t, const DeviceBatch&)>& use)
{
    const at::NoGradGuard noGrad;
    const std::int64_t draws = m_draws;
    const std::int64_t units = m_units;
    Status status = Done{};
    for (std::int64_t i = 0; i < count && status; ++i) {
        Batch& batch = m_batches.front();
        status = readNext(batch, Part::Whole);
        if (status) {
            use(i, uploaded(batch));
        }
    }
    m_draws = draws;
    m_units = units;
    return status;
}

Status Trainer::takeLosses(std::int64_t trainingBatches, const std::function<std::int64_t(std::int64_t)>& stepOfBatch,
                           double& train, double& validation)
{
    BatchMeans means;
    const Status taken = onNextBatches(trainingBatches, [&](std::int64_t number, const DeviceBatch& batch) {
        means.add(m_parts.network->quantities(batch, partOf(stepOfBatch(number))).means,
                  unitsIn(m_batches.front(), m_schema));
    });
    if (!taken) {
        return taken;
    }
    const auto part = [&](std::int64_t batch) { return partOf(stepOfBatch(batch)); };
    const Result<Evaluation> onValidation = evaluateValidation(state(), part);
    if (!onValidation) {
        return onValidation.error();
    }
    train = means.loss();
    validation = onValidation->loss();
    return Done{};
}

Result<std::string> Trainer::growOver(const StageBorder& border)
{
    at::Tensor before;
    at::Tensor after;
    const bool grows = m_course.growsAt(border);
    const auto take = [&](at::Tensor& outputs, std::int64_t step) -> Status {
        return onNextBatches(grows ? 1 : 0, [&](std::int64_t, const DeviceBatch& batch) {
            outputs = m_parts.network->forward(firstOf(batch, kMostCompared), partOf(step));
        });
    };
    if (const Status taken = take(before, m_step); !taken) {
        return taken.error();
    }
    std::string note;
    {
        const Stopwatch stopwatch(m_seconds);
        m_isGrownAhead = grows;
        m_graphs.clear();
        note = m_course.grow(border, *m_parts.network, m_optimiser);
        if (grows) {
            m_average.restart();
        }
    }
    if (const Status taken = take(after, m_step + 1); !taken) {
        return taken.error();
    }
    if (grows) {
        const bool meant = m_course.meansToKeep();
        note += (note.empty() ? "" : "; ") + keptText(before, after, m_parts.project.training.precision, meant);
    }
    return note;
}

Result<std::optional<StageRecord>> Trainer::beginStage()
{
    const std::optional<StageBorder> border = m_course.after(m_step);
    if (!border) {
        return std::optional<StageRecord>();
    }
    StageRecord record;
    record.step = m_step;
    record.name = border->name;
    if (m_step == 0) {
        return std::optional(std::move(record));
    }
    const c10::DeviceGuard current(m_parts.device);
    applyDeterminism(m_parts.project.training.determinism);
    const bool draws = m_course.drawsAt(m_step) || m_course.drawsAt(m_step + 1);
    const std::int64_t batches = draws ? m_parts.project.training.validationBatches : 1;
    const auto stepBefore = [&](std::int64_t batch) {
        return draws ? std::max(m_step - batch, border->before.from + 1) : m_step;
    };
    const auto stepAfter = [&](std::int64_t batch) {
        return draws ? std::min(m_step + 1 + batch, border->after.to) : m_step + 1;
    };
    if (const Status taken = takeLosses(batches, stepBefore, record.trainBefore, record.validationBefore); !taken) {
        return taken.error();
    }
    Result<std::string> note = growOver(*border);
    if (!note) {
        return note.error();
    }
    record.note = std::move(*note);
    if (const Status taken = takeLosses(batches, stepAfter, record.trainAfter, record.validationAfter); !taken) {
        return taken.error();
    }
    return std::optional(std::move(record));
}

} // namespace residua::engine
