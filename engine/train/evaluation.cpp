// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/train/evaluation.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>
#include <c10/core/DeviceGuard.h>

#include <cstddef>

namespace residua::engine {

Evaluation::Evaluation(CompiledNetwork& network, const Dataset& dataset, Split split,
                       const projects::TrainingPlan& plan, c10::Device device, std::int64_t batches)
    : m_network(network), m_device(device), m_batches(dataset, split, plan, device, batches)
{
}

Status Evaluation::advance(const Pass& pass)
{
    const at::NoGradGuard noGrad;
    const c10::DeviceGuard current(m_device);
    const Result<std::optional<DeviceBatch>> batch = m_batches.next();
    if (!batch) {
        return batch.error();
    }
    m_atEnd = !batch->has_value();
    if (m_atEnd) {
        return Done{};
    }
    const BatchMeans means = m_network.quantities(**batch, pass);
    for (std::size_t i = 0; i < means.size(); ++i) {
        if (i == m_sums.size()) {
            m_sums.emplace_back(means[i].first, at::zeros({}, means[i].second.options().dtype(at::kDouble)));
        }
        m_sums[i].second.add_(means[i].second, static_cast<double>(m_batches.units()));
    }
    m_units += m_batches.units();
    return Done{};
}

std::map<std::string, double> Evaluation::means() const
{
    std::map<std::string, double> means;
    for (const auto& [name, sum] : m_sums) {
        means[name] = sum.item<double>() / static_cast<double>(m_units);
    }
    return means;
}

double Evaluation::loss() const
{
    return m_sums.empty() ? kNoLoss : means().at("loss");
}

} // namespace residua::engine
