// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/train/evaluation.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>
#include <c10/core/DeviceGuard.h>

#include <limits>

namespace residua::engine {

Evaluation::Evaluation(CompiledNetwork& network, const Dataset& dataset, Split split,
                       const projects::TrainingPlan& plan, c10::Device device, std::int64_t batches)
    : m_network(network),
      m_device(device),
      m_batches(dataset, split, plan, device, batches),
      m_sum(at::zeros({}, at::TensorOptions().dtype(at::kDouble).device(device)))
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
    if (!m_atEnd) {
        m_sum.add_(m_network.loss(**batch, pass), static_cast<double>(m_batches.units()));
        m_units += m_batches.units();
    }
    return Done{};
}

double Evaluation::mean() const
{
    if (m_units == 0) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    return m_sum.item<double>() / static_cast<double>(m_units);
}

} // namespace residua::engine
