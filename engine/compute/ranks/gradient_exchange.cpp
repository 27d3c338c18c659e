// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/ranks/gradient_exchange.h"

#include "engine/compute/ranks/tensor_exchange.h"
#include "projects/model/parameter_name.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <map>
#include <utility>

namespace residua::engine {
namespace {

using torch::autograd::variable_list;
using BucketReady = std::function<void(std::size_t)>;

// A bucket is an eighth of the network, so that the last one, which nothing hides, is small, within bounds: exchanges
// of a few kilobytes take as long as their latency, and larger ones than 25 MiB gain nothing.
constexpr std::size_t kParts = 8;
constexpr std::size_t kLeastBytes = std::size_t{4} << 10;
constexpr std::size_t kMostBytes = std::size_t{25} << 20;

/// Runs after a parameter's gradient was accumulated.
class ReadyHook final : public torch::autograd::FunctionPostHook {
public:
    ReadyHook(std::weak_ptr<BucketReady> ready, std::size_t bucket) : m_ready(std::move(ready)), m_bucket(bucket) {}

    variable_list operator()(const variable_list& outputs, const variable_list& /*inputs*/) override
    {
        if (const auto ready = m_ready.lock()) {
            (*ready)(m_bucket);
        }
        return outputs;
    }

private:
    std::weak_ptr<BucketReady> m_ready;
    std::size_t m_bucket;
};

/// Returns a number that rises in the order in which the backward pass reaches the parts: the head, the layers from the
/// top, what all layers read, the stem.
std::pair<int, std::int64_t> turnOf(const NamedParameter& parameter)
{
    const projects::ParameterName name = projects::parameterNameFrom(projects::withoutTower(parameter.name));
    switch (name.part) {
    case projects::NetworkPart::Head:
        return {0, 0};
    case projects::NetworkPart::Layers:
        return {1, -name.layer};
    case projects::NetworkPart::Topology:
    case projects::NetworkPart::Other:
        return {2, 0};
    case projects::NetworkPart::Stem:
        return {3, 0};
    }
    return {};
}

} // namespace

GradientExchange::GradientExchange(Ranks& ranks, std::vector<NamedParameter>& parameters, at::Device device)
    : m_ranks(ranks), m_exchange(ranks.exchange(device)), m_parameters(parameters)
{
    std::vector<std::size_t> order(parameters.size());
    std::ranges::generate(order, [next = order.size()]() mutable { return --next; });
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return turnOf(parameters[i]); });
    std::size_t bytes = 0;
    for (const NamedParameter& parameter : parameters) {
        bytes += parameter.tensor.nbytes();
    }
    const std::size_t most = std::clamp(bytes / kParts, kLeastBytes, kMostBytes);
    std::size_t filled = most;
    for (const std::size_t i : order) {
        const at::Tensor& tensor = parameters[i].tensor;
        if (filled >= most ||
            parameters[m_buckets.back().parameters.front()].tensor.scalar_type() != tensor.scalar_type()) {
            m_buckets.emplace_back();
            filled = 0;
        }
        m_buckets.back().parameters.push_back(i);
        filled += tensor.nbytes();
    }
}

void GradientExchange::begin(const at::Tensor& loss)
{
    const at::NoGradGuard noGrad;
    m_hook = std::make_shared<BucketReady>([this](std::size_t bucket) { ready(bucket); });
    m_head = at::zeros({1 + m_ranks.timesCount()}, loss.options().requires_grad(false));
    m_head[0].copy_(loss).div_(m_ranks.count());
    m_ranks.beginStep(m_head.narrow(0, 1, m_ranks.timesCount()));
    m_exchange.sum(m_head);
    const std::scoped_lock lock(m_mutex);
    m_begun = 0;
    for (std::size_t b = 0; b < m_buckets.size(); ++b) {
        m_buckets[b].missing = 0;
        for (const std::size_t i : m_buckets[b].parameters) {
            // It exists as long as a graph that the backward pass may run through.
            if (const auto accumulates = torch::autograd::impl::try_get_grad_accumulator(m_parameters[i].tensor)) {
                accumulates->add_post_hook(std::make_unique<ReadyHook>(m_hook, b));
                ++m_buckets[b].missing;
            }
        }
    }
}

void GradientExchange::ready(std::size_t bucket)
{
    const std::scoped_lock lock(m_mutex);
    --m_buckets[bucket].missing;
    const auto waits = std::ranges::find_if(m_buckets, [](const Bucket& b) { return b.missing > 0; });
    exchangeUntil(static_cast<std::size_t>(waits - m_buckets.begin()));
}

void GradientExchange::exchangeUntil(std::size_t end)
{
    for (; m_begun < end; ++m_begun) {
        exchange(m_buckets[m_begun]);
    }
}

void GradientExchange::exchange(const Bucket& bucket)
{
    const at::NoGradGuard noGrad;
    std::map<const void*, std::size_t> sharers; // of each block of memory: the bucket's gradients in it
    for (const std::size_t i : bucket.parameters) {
        if (const at::Tensor& gradient = m_parameters[i].tensor.grad(); gradient.defined()) {
            ++sharers[gradient.storage().unsafeGetStorageImpl()];
        }
    }
    std::vector<at::Tensor> gradients;
    for (const std::size_t i : bucket.parameters) {
        at::Tensor& gradient = m_parameters[i].tensor.mutable_grad();
        if (gradient.defined()) {
            // The backward pass may still read the memory, if it has other owners.
            const at::Storage& memory = gradient.storage();
            const bool isOwn = memory.use_count() == sharers.at(memory.unsafeGetStorageImpl());
            gradient = isOwn ? gradient.contiguous() : gradient.clone(at::MemoryFormat::Contiguous);
            gradients.push_back(gradient);
        }
    }
    m_exchange.mean(std::move(gradients));
}

at::Tensor GradientExchange::finish()
{
    m_hook.reset();
    {
        const std::scoped_lock lock(m_mutex);
        exchangeUntil(m_buckets.size());
    }
    m_ranks.finishStep(m_head.narrow(0, 1, m_ranks.timesCount()));
    return m_head[0];
}

} // namespace residua::engine
