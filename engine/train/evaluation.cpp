// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/train/evaluation.h"

#include "engine/train/batches.h"
#include "engine/train/precision.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>
#include <c10/core/DeviceGuard.h>

#include <limits>

namespace residua::engine {

Evaluation::Evaluation(CompiledNetwork& network, const Dataset& dataset, Split split,
                       const projects::TrainingPlan& plan, c10::Device device, std::int64_t batches)
    : m_network(network),
      m_dataset(dataset),
      m_plan(plan),
      m_schema(dataset.schema()),
      m_split(split),
      m_device(device),
      m_limit(batches > 0 ? batches : std::numeric_limits<std::int64_t>::max()),
      m_sum(at::zeros({}, at::TensorOptions().dtype(at::kDouble).device(device)))
{
}

Status Evaluation::advance(const Pass& pass)
{
    if (m_index < m_limit) {
        if (Status filled = m_dataset.fillSequential(m_batch, m_split, m_index, m_plan.batch); !filled) {
            return filled;
        }
    }
    m_atEnd = m_index >= m_limit || m_batch.batch == 0;
    if (m_atEnd) {
        return Done{};
    }
    const at::NoGradGuard noGrad;
    const c10::DeviceGuard current(m_device);
    const DeviceBatch batch = upload(m_batch, m_schema, m_device, parameterType(m_plan.precision));
    const std::int64_t units = unitsIn(m_batch, m_schema);
    m_sum.add_(m_network.loss(batch, pass), static_cast<double>(units));
    m_units += units;
    ++m_index;
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
