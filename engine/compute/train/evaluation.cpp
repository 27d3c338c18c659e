// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/train/evaluation.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <cstddef>

namespace residua::engine {

std::map<std::string, double> f1Of(const Matrix& confusion)
{
    double sum = 0;
    double counted = 0;
    double last = 0;
    for (std::int64_t label = 0; label < confusion.rows; ++label) {
        double own = 0;
        double predicted = 0;
        for (std::int64_t other = 0; other < confusion.rows; ++other) {
            own += confusion.at(label, other);
            predicted += confusion.at(other, label);
        }
        const double either = own + predicted; // 2·TP + FP + FN
        last = either > 0 ? 2 * static_cast<double>(confusion.at(label, label)) / either : 0;
        sum += last;
        counted += either > 0 ? 1 : 0;
    }
    std::map<std::string, double> scores{{"macro_f1", counted > 0 ? sum / counted : 0}};
    if (confusion.rows == 2) {
        scores["f1"] = last;
    }
    return scores;
}

void BatchMeans::add(const std::vector<BatchMean>& means, std::int64_t units)
{
    for (std::size_t i = 0; i < means.size(); ++i) {
        const auto& [name, mean, count] = means[i];
        if (i == m_sums.size()) {
            const at::Tensor zero = at::zeros({}, mean.options().dtype(at::kDouble));
            m_sums.push_back({name, zero, count.defined() ? zero.clone() : at::Tensor()});
        }
        if (count.defined()) {
            m_sums[i].total.add_(mean.mul(count.to(at::kDouble)));
            m_sums[i].count.add_(count);
        } else {
            m_sums[i].total.add_(mean, static_cast<double>(units));
        }
    }
    m_units += units;
}

std::map<std::string, double> BatchMeans::values() const
{
    std::map<std::string, double> values;
    for (const auto& [name, total, count] : m_sums) {
        const double targets = count.defined() ? count.item<double>() : static_cast<double>(m_units);
        values[name] += total.item<double>() / std::max(targets, 1.0);
    }
    return values;
}

double BatchMeans::loss() const
{
    const std::map<std::string, double> means = values();
    return means.empty() ? kNoLoss : means.at("loss");
}

Evaluation::Evaluation(CompiledNetwork& network, const Dataset& dataset, Split split,
                       const projects::TrainingPlan& plan, c10::Device device, std::int64_t batches)
    : m_network(network), m_device(device), m_batches(dataset, split, plan, device, batches)
{
}

Status Evaluation::advance(const Pass& pass)
{
    const at::NoGradGuard noGrad;
    const c10::DeviceGuard current(m_device);
    const std::optional<DeviceBatch> batch = RESIDUA_TRY(m_batches.next());
    m_atEnd = !batch.has_value();
    if (m_atEnd) {
        return Done{};
    }
    const auto [means, confusion] = m_network.quantities(*batch, pass);
    if (confusion.defined()) {
        m_confusion = m_confusion.defined() ? m_confusion.add_(confusion) : confusion;
    }
    m_means.add(means, m_batches.units());
    return Done{};
}

std::map<std::string, double> Evaluation::means() const
{
    std::map<std::string, double> means = m_means.values();
    if (const std::optional<Matrix> counts = confusion(0)) {
        means.merge(f1Of(*counts));
    }
    return means;
}

std::optional<Matrix> Evaluation::confusion(std::int64_t step) const
{
    if (!m_confusion.defined()) {
        return std::nullopt;
    }
    const at::Tensor counts = m_confusion.to(at::kCPU, at::kFloat).contiguous();
    const float* const first = counts.const_data_ptr<float>();
    return Matrix{matrix::kConfusion, step, counts.size(0), counts.size(1), {first, first + counts.numel()}};
}

} // namespace residua::engine
