// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/queries/measures/sampler.h"

#include "projects/nodes/attention_options.h"
#include "projects/nodes/example_schema.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace residua::engine {
namespace {

/// Returns the most probable of a row of logits.
FilledToken bestOf(const at::Tensor& logits, std::int64_t position, std::int64_t count)
{
    FilledToken place{position, {}};
    const at::Tensor row = logits.to(at::kDouble).to(at::kCPU);
    const auto [best, which] = at::softmax(row, 0).topk(std::min(count, row.numel()));
    for (std::int64_t rank = 0; rank < best.numel(); ++rank) {
        place.candidates.emplace_back(which[rank].item<std::int64_t>(), best[rank].item<double>());
    }
    return place;
}

} // namespace

TokenChooser::TokenChooser(double temperature, std::int64_t topK, std::int64_t seed)
    : m_temperature(temperature), m_topK(topK), m_random(static_cast<std::uint64_t>(seed), streamOf(Stream::Tokens))
{
}

std::int64_t TokenChooser::choose(std::span<const float> logits)
{
    const auto vocabulary = static_cast<std::int64_t>(logits.size());
    const auto logitOf = [&](std::int64_t token) {
        const float logit = logits[static_cast<std::size_t>(token)];
        return std::isnan(logit) ? -HUGE_VALF : logit; // a NaN would break the order
    };
    const auto better = [&](std::int64_t a, std::int64_t b) {
        const float left = logitOf(a);
        const float right = logitOf(b);
        return left != right ? left > right : a < b;
    };
    m_order.resize(logits.size());
    std::iota(m_order.begin(), m_order.end(), 0);
    const std::int64_t kept = m_topK > 0 ? std::min(m_topK, vocabulary) : vocabulary;
    if (m_temperature <= 0) {
        return *std::min_element(m_order.begin(), m_order.end(), better);
    }
    if (kept < vocabulary) {
        std::partial_sort(m_order.begin(), m_order.begin() + kept, m_order.end(), better);
    }
    const std::span<const std::int64_t> candidates(m_order.data(), static_cast<std::size_t>(kept));
    const double highest = logitOf(*std::min_element(candidates.begin(), candidates.end(), better));
    m_weights.clear();
    double total = 0;
    for (const std::int64_t token : candidates) {
        total += std::exp((logitOf(token) - highest) / m_temperature);
        m_weights.push_back(total);
    }
    const double draw = m_random.uniform() * total;
    const std::int64_t chosen = std::upper_bound(m_weights.begin(), m_weights.end(), draw) - m_weights.begin();
    return candidates[static_cast<std::size_t>(std::min(chosen, kept - 1))];
}

Sampler::Sampler(CompiledNetwork& network, c10::Device device, const SamplerOptions& options)
    : m_network(network),
      m_device(device),
      m_options(options),
      m_chooser(options.temperature, options.topK, options.seed)
{
}

void Sampler::extend(std::vector<std::int64_t>& tokens)
{
    const at::NoGradGuard noGrad;
    const c10::DeviceGuard current(m_device);
    const auto length = std::min<std::int64_t>(m_options.window, static_cast<std::int64_t>(tokens.size()));
    std::int64_t* const context = tokens.data() + (static_cast<std::int64_t>(tokens.size()) - length);
    const at::Tensor input = at::from_blob(context, {1, length}, at::TensorOptions().dtype(at::kLong)).to(m_device);
    DeviceBatch batch{input, {}};
    if (m_options.prefix > 0) {
        const std::int64_t gone = static_cast<std::int64_t>(tokens.size()) - length;
        const std::int64_t prefix = std::clamp<std::int64_t>(m_options.prefix - gone, 0, length);
        batch.conditions.emplace(projects::kPrefix, at::tensor({prefix}, at::kLong).to(m_device));
    }
    const at::Tensor logits = m_network.forward(batch, m_options.pass);
    const at::Tensor last = logits.select(0, 0).select(0, length - 1).to(at::kFloat).to(at::kCPU).contiguous();
    tokens.push_back(m_chooser.choose({last.const_data_ptr<float>(), static_cast<std::size_t>(last.numel())}));
}

std::vector<FilledToken> classesOf(CompiledNetwork& network, c10::Device device, const DeviceBatch& batch,
                                   std::int64_t count, const Pass& pass)
{
    const at::NoGradGuard noGrad;
    const c10::DeviceGuard current(device);
    const at::Tensor logits = network.forward(batch, pass);
    std::vector<FilledToken> found;
    for (std::int64_t i = 0; i < logits.size(0); ++i) {
        found.push_back(bestOf(logits[i], i, count));
    }
    return found;
}

std::vector<FilledToken> candidatesFor(CompiledNetwork& network, c10::Device device,
                                       const std::vector<std::int64_t>& tokens, std::int64_t mask, std::int64_t count,
                                       const Pass& pass)
{
    const at::NoGradGuard noGrad;
    const c10::DeviceGuard current(device);
    const at::Tensor input = at::tensor(tokens, at::kLong).unsqueeze(0).to(device);
    DeviceBatch batch{input, {}};
    batch.conditions.emplace(projects::kSegmentsPort, at::zeros_like(input)); // one text; read if the data have pairs
    const at::Tensor logits = network.forward(batch, pass).select(0, 0);
    std::vector<FilledToken> filled;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (tokens[i] != mask) {
            continue;
        }
        filled.push_back(bestOf(logits[static_cast<std::int64_t>(i)], static_cast<std::int64_t>(i), count));
    }
    return filled;
}

} // namespace residua::engine
