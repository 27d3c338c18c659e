// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/network/diffusion_loss.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/erfc.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/log.h>
#include <ATen/ops/where.h>

#include <cmath>
#include <cstdint>
#include <numbers>

namespace residua::engine {
namespace {

enum Column : std::int64_t { kSignal, kNoise, kMeanError, kLogBeta, kLogPosterior, kColumns };

/// Returns P(X ≤ x) of a standard normal X.
at::Tensor normalCdf(const at::Tensor& x)
{
    return at::erfc(x * -std::numbers::sqrt2 / 2) * 0.5;
}

/// Returns −ln of the probability of a value in [−1, 1] that is one of 256 steps, each of the normal distribution's
/// mass around it; the first and the last take the tails (Ho et al., 2020, equation 13). `error`: value − mean.
at::Tensor firstStepNats(const at::Tensor& value, const at::Tensor& error, const at::Tensor& logVariance)
{
    constexpr double kHalfStep = 1.0 / 255;
    constexpr double kEdge = 0.999;
    constexpr double kLeast = 1e-12;
    const at::Tensor inverse = at::exp(logVariance * -0.5);
    const at::Tensor upper = normalCdf((error + kHalfStep) * inverse);
    const at::Tensor lower = normalCdf((error - kHalfStep) * inverse);
    const at::Tensor mass = at::where(
        value < -kEdge, upper, at::where(value > kEdge, normalCdf((kHalfStep - error) * inverse), upper - lower));
    return -at::log(mass.clamp_min(kLeast));
}

} // namespace

at::Tensor logVarianceOf(const at::Tensor& output, const at::Tensor& logPosterior, const at::Tensor& logBeta)
{
    const at::Tensor share = (output + 1) * 0.5;
    return share * logBeta + (1 - share) * logPosterior;
}

DiffusionLoss::DiffusionLoss(const projects::Diffusion& diffusion) : m_learnsVariance(diffusion.learnsVariance)
{
    const NoiseSchedule schedule(diffusion);
    m_table = at::empty({diffusion.steps, kColumns}, at::kDouble);
    double* row = m_table.mutable_data_ptr<double>();
    for (std::size_t i = 0; i < schedule.size(); ++i, row += kColumns) {
        const double beta = schedule.beta(i);
        row[kSignal] = std::sqrt(schedule.alphaBar(i));
        row[kNoise] = std::sqrt(1 - schedule.alphaBar(i));
        row[kMeanError] = beta / (std::sqrt(1 - beta) * row[kNoise]);
        row[kLogBeta] = std::log(beta);
        row[kLogPosterior] = schedule.logPosteriorVariance(i);
    }
}

at::Tensor DiffusionLoss::rowsOf(const at::Tensor& step, const at::Tensor& like)
{
    if (!m_there.defined() || m_there.scalar_type() != like.scalar_type() || m_there.device() != like.device()) {
        m_there = m_table.to(like.options());
    }
    return at::index_select(m_there, 0, step);
}

at::Tensor DiffusionLoss::of(const at::Tensor& output, const at::Tensor& noise, const at::Tensor& input,
                             const at::Tensor& step)
{
    const std::int64_t features = noise.size(1);
    const at::Tensor epsilon = output.narrow(1, 0, features);
    const at::Tensor simple = (epsilon - noise).square().mean();
    if (!m_learnsVariance) {
        return simple;
    }
    const at::Tensor rows = rowsOf(step, output);
    const auto column = [&](Column at) { return rows.narrow(1, at, 1); };
    const at::Tensor logPosterior = column(kLogPosterior);
    const at::Tensor logVariance = logVarianceOf(output.narrow(1, features, features), logPosterior, column(kLogBeta));
    // The mean of the step back of the example minus the network's.
    const at::Tensor error = (epsilon.detach() - noise) * column(kMeanError);
    const at::Tensor divergence = (logVariance - logPosterior - 1 + at::exp(logPosterior - logVariance) +
                                   error.square() * at::exp(-logVariance)) *
                                  0.5;
    const at::Tensor example = (input.to(output.scalar_type()) - noise * column(kNoise)) / column(kSignal);
    const at::Tensor nats = at::where((step == 0).unsqueeze(1), firstStepNats(example, error, logVariance), divergence);
    return simple + nats.mean() / std::numbers::ln2;
}

} // namespace residua::engine
