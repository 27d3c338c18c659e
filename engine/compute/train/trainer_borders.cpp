// SPDX-License-Identifier: GPL-3.0-or-later
// The borders between stages of a training.
#include "engine/compute/train/batches.h"
#include "engine/compute/train/evaluation.h"
#include "engine/compute/train/stopwatch.h"
#include "engine/compute/train/tensor_io.h"
#include "engine/compute/train/trainer.h"
#include "projects/base/text.h"
#include "projects/nodes/towers.h"
#include "projects/schedule/stage_schedule.h"

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
    const WeightAverage::Evaluated evaluated(m_average);
    BatchMeans means;
    const Status taken = onNextBatches(trainingBatches, [&](std::int64_t number, const DeviceBatch& batch) {
        means.add(m_parts.network->quantities(batch, partOf(stepOfBatch(number))).means,
                  unitsIn(m_batches.front(), m_schema));
    });
    if (!taken) {
        return taken;
    }
    const auto part = [&](std::int64_t batch) { return partOf(stepOfBatch(batch)); };
    const Evaluation onValidation = RESIDUA_TRY(evaluateValidation(state(), part));
    train = means.loss();
    validation = onValidation.loss();
    return Done{};
}

std::vector<Trainer::Course> Trainer::coursesOf(const projects::Project& project)
{
    std::vector<Course> courses;
    courses.push_back({0, {}, projects::outputOf(project.network), StageCourse(project)});
    for (const std::size_t index : projects::usedTowers(project)) {
        const projects::Network& network = projects::towerAt(project, index);
        if (index > 0 && !network.frozen && !projects::trainsAll(network.stack().schedule)) {
            courses.push_back({index, "tower " + network.name + ": ", projects::outputOf(network),
                               StageCourse(projects::viewOf(project, index), network.name + ".")});
        }
    }
    return courses;
}

Pass Trainer::passOf(const Course& course, const Pass& pass)
{
    Pass own = pass;
    if (course.tower > 0) {
        own.layers = m_parts.network->layersOf(pass, course.tower);
    }
    return own;
}

bool Trainer::drawsAt(std::int64_t step) const
{
    return std::ranges::any_of(m_courses, [step](const Course& each) { return each.course.drawsAt(step); });
}

std::vector<Trainer::Border> Trainer::bordersNow() const
{
    std::vector<Border> borders;
    for (const Course& each : m_courses) {
        if (std::optional<StageBorder> border = each.course.after(m_step)) {
            borders.push_back({each, *std::move(border)});
        }
    }
    return borders;
}

Result<std::string> Trainer::growOver(const std::vector<Border>& borders)
{
    using Values = std::map<std::string, at::Tensor>;
    Values before;
    Values after;
    const bool grows =
        std::ranges::any_of(borders, [](const Border& each) { return each.of.course.growsAt(each.border); });
    const auto take = [&](Values& outputs, std::int64_t step) -> Status {
        return onNextBatches(grows ? 1 : 0, [&](std::int64_t, const DeviceBatch& batch) {
            const DeviceBatch few = firstOf(batch, kMostCompared);
            outputs = m_parts.project.towers.empty()
                          ? Values{{m_courses.front().output, m_parts.network->forward(few, partOf(step))}}
                          : m_parts.network->values(few, partOf(step));
        });
    };
    RESIDUA_TRY(take(before, m_step));
    std::vector<std::string> notes;
    {
        const Stopwatch stopwatch(m_seconds);
        m_isGrownAhead = grows;
        m_graphs.clear();
        for (const Border& each : borders) {
            notes.push_back(each.of.course.grow(each.border, *m_parts.network, m_optimiser));
        }
        if (grows) {
            m_average.restart();
        }
    }
    RESIDUA_TRY(take(after, m_step + 1));
    std::string note;
    for (std::size_t i = 0; i < borders.size(); ++i) {
        const auto& [of, border] = borders[i];
        if (of.course.growsAt(border)) {
            notes[i] +=
                (notes[i].empty() ? "" : "; ") + keptText(before.at(of.output), after.at(of.output),
                                                          m_parts.project.training.precision, of.course.meansToKeep());
        }
        note += notes[i].empty() ? "" : (note.empty() ? "" : "; ") + of.name + notes[i];
    }
    return note;
}

Result<std::optional<StageRecord>> Trainer::beginStage()
{
    const std::vector<Border> borders = bordersNow();
    if (borders.empty()) {
        return std::optional<StageRecord>();
    }
    StageRecord record;
    record.step = m_step;
    std::int64_t from = 0; // the steps around the border in which no tower has another one
    std::int64_t to = m_parts.project.training.steps;
    for (const Border& each : borders) {
        record.name += (record.name.empty() ? "" : ", ") + each.of.name + each.border.name;
        from = std::max(from, each.border.before.from);
        to = std::min(to, each.border.after.to);
    }
    if (m_step == 0) {
        return std::optional(std::move(record));
    }
    const c10::DeviceGuard current(m_parts.device);
    applyDeterminism(m_parts.project.training.determinism);
    const bool draws = drawsAt(m_step) || drawsAt(m_step + 1);
    const std::int64_t batches = draws ? m_parts.project.training.validationBatches : 1;
    const auto stepBefore = [&](std::int64_t batch) { return draws ? std::max(m_step - batch, from + 1) : m_step; };
    const auto stepAfter = [&](std::int64_t batch) { return draws ? std::min(m_step + 1 + batch, to) : m_step + 1; };
    RESIDUA_TRY(takeLosses(batches, stepBefore, record.trainBefore, record.validationBefore));
    record.note = RESIDUA_TRY(growOver(borders));
    RESIDUA_TRY(takeLosses(batches, stepAfter, record.trainAfter, record.validationAfter));
    return std::optional(std::move(record));
}

} // namespace residua::engine
