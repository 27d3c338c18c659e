// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/train/knockout.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/log_softmax.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace residua::engine {
namespace {

constexpr std::int64_t kRowsAtOnce = 1024; ///< of logits whose divergence is computed together

/// Returns the sum over the rows of KL(p ‖ p′) of two tensors of logarithms [rows, classes].
double divergenceOf(const at::Tensor& p, const at::Tensor& other)
{
    double sum = 0;
    for (std::int64_t row = 0; row < p.size(0); row += kRowsAtOnce) {
        const std::int64_t rows = std::min(kRowsAtOnce, p.size(0) - row);
        const at::Tensor a = p.narrow(0, row, rows).to(at::kDouble);
        sum += (a.exp() * (a - other.narrow(0, row, rows))).sum().item<double>();
    }
    return sum;
}

} // namespace

void AlteredPasses::keepFor(const projects::Alteration& alteration)
{
    if (alteration.frozenRouting) {
        m_borders.wantRouting();
    }
    for (const projects::FilledStreams& fill : alteration.fills) {
        for (std::int64_t border = fill.first; !fill.with && border <= fill.last; ++border) {
            m_borders.wantStreams(border);
        }
    }
}

at::Tensor AlteredPasses::whole(const DeviceBatch& batch, LayerMagnitudes* magnitudes)
{
    m_borders.clear();
    Pass pass = m_pass;
    pass.borders = &m_borders;
    pass.magnitudes = magnitudes;
    return m_network.stackOutput(batch, pass);
}

at::Tensor AlteredPasses::altered(const DeviceBatch& batch, const projects::Alteration& alteration)
{
    Pass pass = m_pass;
    pass.borders = &m_borders;
    pass.alteration = std::make_shared<projects::Alteration>(alteration);
    return m_network.stackOutput(batch, pass);
}

Knockout::Knockout(CompiledNetwork& network, const Dataset& dataset, const projects::Project& project,
                   c10::Device device, std::int64_t batches, std::int64_t step,
                   std::vector<projects::KnockoutSubject> subjects)
    : m_network(network),
      m_device(device),
      m_batches(dataset, Split::Validation, project.training, device, batches),
      m_passesOf(network, passAfter(step)),
      m_hasLogits(projects::traitsOf(network.judge().objective).target == projects::Element::Token),
      m_subjects(std::move(subjects)),
      m_sums(m_subjects.size()),
      m_others(m_subjects.size())
{
    for (const projects::KnockoutSubject& subject : m_subjects) {
        m_passesOf.keepFor(subject.alteration);
    }
}

void Knockout::use(std::size_t index, std::unique_ptr<CompiledNetwork> network)
{
    m_others.at(index) = std::move(network);
}

Status Knockout::advance()
{
    const at::NoGradGuard noGrad;
    const c10::DeviceGuard current(m_device);
    if (!m_batch || m_next == m_subjects.size()) {
        return begin();
    }
    Sums& sums = m_sums[m_next];
    const at::Tensor output = m_others[m_next] ? m_others[m_next]->stackOutput(*m_batch, m_passesOf.pass())
                                               : m_passesOf.altered(*m_batch, m_subjects[m_next].alteration);
    sums.rises.push_back(lossOf(output, sums.loss) - m_wholeLoss);
    if (m_hasLogits) {
        sums.divergence += divergenceOf(m_wholeLogarithms, logarithms(output));
    }
    ++m_next;
    ++m_passes;
    return Done{};
}

/// Runs the whole network on the next batch.
Status Knockout::begin()
{
    std::optional<DeviceBatch> batch = RESIDUA_TRY(m_batches.next());
    m_atEnd = !batch.has_value();
    if (m_atEnd) {
        return Done{};
    }
    m_batch = std::move(*batch);
    m_next = 0;
    const at::Tensor output = m_passesOf.whole(*m_batch);
    m_wholeLoss = lossOf(output, m_loss);
    if (m_hasLogits) {
        m_wholeLogarithms = logarithms(output);
        m_outputs += static_cast<double>(m_wholeLogarithms.size(0));
    }
    ++m_passes;
    return Done{};
}

/// Adds the loss of the batch to the means, and returns it.
double Knockout::lossOf(const at::Tensor& output, BatchMeans& means)
{
    const std::vector<BatchMean> terms = m_network.lossOf(output, *m_batch, m_passesOf.pass());
    BatchMeans own;
    own.add(terms, m_batches.units());
    means.add(terms, m_batches.units());
    return own.loss();
}

/// Returns the logarithms of the probabilities, [outputs, classes].
at::Tensor Knockout::logarithms(const at::Tensor& output)
{
    const at::Tensor logits = m_network.outputOf(output, *m_batch, m_passesOf.pass());
    const at::Tensor wide = logits.scalar_type() == at::kDouble ? logits : logits.to(at::kFloat);
    return at::log_softmax(wide.reshape({-1, wide.size(-1)}), 1);
}

std::vector<KnockoutEffect> Knockout::effects() const
{
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    std::vector<KnockoutEffect> effects;
    for (const Sums& sums : m_sums) {
        KnockoutEffect& effect = effects.emplace_back();
        effect.rise = sums.loss.loss() - m_loss.loss();
        effect.divergence = m_hasLogits && m_outputs > 0 ? sums.divergence / m_outputs : kNone;
        const auto count = static_cast<double>(sums.rises.size());
        double mean = 0;
        for (const double rise : sums.rises) {
            mean += rise / count;
        }
        double squares = 0;
        for (const double rise : sums.rises) {
            squares += (rise - mean) * (rise - mean);
        }
        effect.error = count > 1 ? std::sqrt(squares / (count - 1) / count) : kNone;
    }
    return effects;
}

} // namespace residua::engine
