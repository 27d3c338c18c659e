// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/train/metric_ring.h"

#include <ATen/ops/zeros.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <cmath>
#include <cstddef>
#include <utility>

namespace residua::engine {
namespace {

c10::Stream streamOf(c10::Device device)
{
    return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

} // namespace

bool isFiniteStep(double loss, double gradientNorm)
{
    return std::isfinite(loss) && std::isfinite(gradientNorm);
}

MetricRing::MetricRing(c10::Device device, std::int64_t capacity)
    : m_values(at::zeros({capacity, 2}, at::TensorOptions().dtype(at::kDouble).device(device)))
{
    for (std::int64_t i = 0; i < capacity; ++i) {
        const at::Tensor row = m_values.select(0, i);
        m_losses.push_back(row.select(0, 0));
        m_norms.push_back(row.select(0, 1));
    }
    m_records.reserve(m_losses.size());
}

void MetricRing::begin()
{
    if (!timesSteps()) {
        return;
    }
    const auto mark = [this] { return c10::Event(m_values.device().type(), c10::EventFlag::BACKEND_DEFAULT); };
    if (m_spans.size() == m_records.size()) {
        m_spans.push_back({mark(), mark()});
    }
    m_spans[m_records.size()].begin.record(streamOf(m_values.device()));
}

void MetricRing::addLoss(const at::Tensor& loss)
{
    m_losses.at(m_records.size()).add_(loss.detach());
}

void MetricRing::dropLoss()
{
    m_losses.at(m_records.size()).zero_();
}

void MetricRing::commit(const at::Tensor& gradientNorm, const StepRecord& known)
{
    m_norms.at(m_records.size()).copy_(gradientNorm);
    if (timesSteps()) {
        m_spans.at(m_records.size()).end.record(streamOf(m_values.device()));
    }
    m_records.push_back(known);
}

bool MetricRing::isLastFinite() const
{
    if (m_records.empty()) {
        return true;
    }
    const double* const last = m_values.const_data_ptr<double>() + 2 * (m_records.size() - 1);
    return isFiniteStep(last[0], last[1]);
}

std::vector<StepRecord> MetricRing::take()
{
    if (m_records.empty()) {
        return {};
    }
    const at::Tensor host = m_values.to(at::kCPU);
    const double* const values = host.const_data_ptr<double>();
    std::vector<StepRecord> records = std::exchange(m_records, {});
    for (std::size_t i = 0; i < records.size(); ++i) {
        records[i].loss = values[2 * i];
        records[i].gradientNorm = values[2 * i + 1];
        if (timesSteps()) {
            records[i].seconds = m_spans[i].begin.elapsedTime(m_spans[i].end) / 1000;
        }
    }
    m_values.zero_();
    m_records.reserve(m_losses.size());
    return records;
}

} // namespace residua::engine
