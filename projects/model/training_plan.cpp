// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/model/training_plan.h"

#include "projects/model/project.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace residua::projects {

ResidualPrecision carriedPrecision(const Project& project)
{
    const TrainingPlan& plan = project.training;
    const auto* const mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
    if (mix != nullptr && traitsOf(mix->weight).attends) {
        return ResidualPrecision::Fp32;
    }
    const bool asBranches = mix != nullptr && readsBranches(*mix) && plan.entryPrecision == EntryPrecision::Branch;
    return asBranches ? ResidualPrecision::Bf16 : plan.residualPrecision;
}

double learningRateAt(const TrainingPlan& plan, const StageSchedule& schedule, std::int64_t step)
{
    const LearningRate& rate = plan.learningRate;
    const auto at = static_cast<double>(step);
    const auto warmup = static_cast<double>(std::max<std::int64_t>(rate.warmupSteps, 0));
    if (at <= warmup) {
        return rate.peak * at / warmup;
    }
    const bool waits = rate.decay == RateDecay::InLastStage && !schedule.stages.empty();
    const double from = waits ? std::max(static_cast<double>(schedule.stages.back().start), warmup) : warmup;
    const double rest = std::max(static_cast<double>(plan.steps) - from, 1.0);
    const double progress = std::clamp((at - from) / rest, 0.0, 1.0);
    const double last = rate.peak * rate.finalFraction;
    switch (rate.curve) {
    case RateCurve::Constant:
        break;
    case RateCurve::Linear:
        return last + (rate.peak - last) * (1.0 - progress);
    case RateCurve::Cosine:
        return last + (rate.peak - last) * 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
    case RateCurve::InverseSquareRoot:
        return rate.peak * std::sqrt(std::max(from, 1.0) / std::max(at, from));
    }
    return rate.peak;
}

} // namespace residua::projects
