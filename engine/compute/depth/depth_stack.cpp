// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/depth/depth_stack.h"

#include "engine/compute/ops/part_selection.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include <algorithm>
#include <utility>

namespace residua::engine {

using torch::autograd::Node;
using torch::autograd::variable_list;

namespace {

/// The gradients that one reader has left for its sources in a backward pass.
struct ReaderGrads {
    std::shared_ptr<const MixCall> call;
    std::vector<at::Tensor> outGrads; ///< contiguous, in the stack's type
    at::Tensor gateLogits;
    at::Tensor tokenGrad;
};

/// A reader, and the entry's index among its sources.
struct Pending {
    std::shared_ptr<const ReaderGrads> reader;
    int source = 0;
};

} // namespace

/// State shared by the nodes of one forward pass. Holds no tensor with a gradient edge: the edge would lead back to the
/// nodes, and the cycle would never be freed.
struct DepthStackState {
    struct Entry {
        at::Tensor value;
        at::Tensor rstd; ///< [N], if a normalised gate has read the entry
        std::vector<Pending> pending;
    };
    Compute compute;
    std::vector<Entry> entries;
};

namespace {

void refuseSecondDerivative()
{
    TORCH_CHECK(!at::GradMode::is_enabled(), "depth mixing has no second derivative");
}

/// The backward of one stack entry.
class PushNode final : public Node {
public:
    PushNode(std::shared_ptr<DepthStackState> state, std::size_t index) : m_state(std::move(state)), m_index(index) {}

    [[nodiscard]] std::string name() const override { return "DepthPush"; }

    variable_list apply(variable_list&& grads) override
    {
        refuseSecondDerivative();
        TORCH_CHECK(m_state, "the depth stack was freed by an earlier backward pass");
        DepthStackState::Entry& entry = m_state->entries[m_index];
        const std::vector<Pending> pending = std::exchange(entry.pending, {});
        at::Tensor own = std::move(grads[0]);
        grads.clear(); // lets the gather write into it
        if (pending.empty()) {
            return {own};
        }
        std::vector<MixReading> readings;
        for (const auto& [reader, source] : pending) {
            for (int o = 0; o < reader->call->outputs; ++o) {
                readings.push_back({reader->outGrads[static_cast<std::size_t>(o)], reader->call.get(),
                                    reader->gateLogits, reader->tokenGrad, o, source});
            }
        }
        return {mixGather(m_state->compute, readings, std::move(own), entry.value, entry.rstd)};
    }

    void release_variables() override
    {
        if (m_state) {
            m_state->entries[m_index].value.reset();
            m_state->entries[m_index].rstd.reset();
            m_state.reset();
        }
    }

private:
    std::shared_ptr<DepthStackState> m_state;
    std::size_t m_index;
};

/// The order of a reader's inputs in its backward.
enum MixInput : std::size_t { kWeights, kTokenWeights, kGateVectors, kFirstBase };

/// The backward of one reader.
class MixNode final : public Node {
public:
    MixNode(std::shared_ptr<DepthStackState> state, std::vector<std::size_t> sources, MixWeights weights, int outputs,
            std::size_t bases, const MixOutputs& saved)
        : m_state(std::move(state)),
          m_sources(std::move(sources)),
          m_weights(std::move(weights)),
          m_outputs(outputs),
          m_bases(bases),
          m_gateLogits(saved.gateLogits),
          m_rstd(saved.rstd)
    {
    }

    [[nodiscard]] std::string name() const override { return "DepthMix"; }

    variable_list apply(variable_list&& grads) override
    {
        refuseSecondDerivative();
        TORCH_CHECK(m_state, "the depth stack was freed by an earlier backward pass");
        variable_list result(num_outputs());
        const auto reader = readerGrads(grads);
        if (!reader) {
            return result;
        }
        computeOwnGradients(*reader, result);
        for (std::size_t b = 0; b < m_bases; ++b) {
            result[kFirstBase + b] = grads[b];
        }
        const std::size_t firstSource = kFirstBase + m_bases;
        for (std::size_t s = 0; s < m_sources.size(); ++s) {
            // Only if the entry's node runs in this pass: a gradient left uncollected would be counted twice later.
            if (task_should_compute_output(firstSource + s)) {
                DepthStackState::Entry& entry = m_state->entries[m_sources[s]];
                if (m_rstd.defined() && !entry.rstd.defined()) {
                    entry.rstd = m_rstd[static_cast<std::int64_t>(s)];
                }
                entry.pending.push_back({reader, static_cast<int>(s)});
            }
        }
        return result;
    }

    void release_variables() override
    {
        m_state.reset();
        m_weights = {};
        m_gateLogits.reset();
        m_rstd.reset();
    }

private:
    /// Returns null if no output has a gradient.
    std::shared_ptr<ReaderGrads> readerGrads(const variable_list& grads) const
    {
        bool any = false;
        for (const at::Tensor& grad : grads) {
            any = any || grad.defined();
        }
        if (!any) {
            return nullptr;
        }
        auto reader = std::make_shared<ReaderGrads>();
        auto call = std::make_shared<MixCall>();
        for (const std::size_t source : m_sources) {
            const at::Tensor& value = m_state->entries[source].value;
            TORCH_CHECK(value.defined(), "the depth stack was freed by an earlier backward pass");
            call->sources.push_back(value);
        }
        call->weights = m_weights;
        call->outputs = m_outputs;
        const at::Tensor& first = call->sources.front();
        for (const at::Tensor& grad : grads) {
            reader->outGrads.push_back(grad.defined() ? grad.to(first.scalar_type()).contiguous()
                                                      : at::zeros_like(first));
        }
        reader->call = std::move(call);
        reader->gateLogits = m_gateLogits;
        return reader;
    }

    void computeOwnGradients(ReaderGrads& reader, variable_list& result) const
    {
        const bool gated = m_weights.gateKind != kernels::GateKind::none;
        const bool all = task_should_compute_output(kWeights) || task_should_compute_output(kGateVectors);
        if (!gated && !all) {
            return;
        }
        MixGradients own = mixWeightGrad(m_state->compute, *reader.call, reader.outGrads, m_gateLogits, m_rstd,
                                         all ? WeightGrads::All : WeightGrads::Token);
        if (task_should_compute_output(kWeights)) {
            result[kWeights] = std::move(own.weights);
        }
        if (task_should_compute_output(kGateVectors)) {
            result[kGateVectors] = std::move(own.gateVectors);
        }
        if (m_weights.gateKind == kernels::GateKind::token) {
            result[kTokenWeights] = std::move(own.token);
        } else {
            reader.tokenGrad = std::move(own.token);
        }
    }

    std::shared_ptr<DepthStackState> m_state;
    std::vector<std::size_t> m_sources;
    MixWeights m_weights;
    int m_outputs;
    std::size_t m_bases;
    at::Tensor m_gateLogits;
    at::Tensor m_rstd;
};

at::Tensor detached(const at::Tensor& tensor)
{
    return tensor.defined() ? tensor.detach() : tensor;
}

/// Returns the weights of some of the sources, multiplied by their factors [outputs, places].
MixWeights altered(MixWeights weights, std::span<const std::size_t> places, const at::Tensor& factors)
{
    for (at::Tensor* const tensor : {&weights.weights, &weights.tokenWeights}) {
        if (tensor->defined()) {
            const at::Tensor some = atPlaces(*tensor, 1, places);
            const at::Tensor of = factors.to(some.options());
            *tensor = (some * (some.dim() == 3 ? of.unsqueeze(2) : of)).contiguous();
        }
    }
    return weights;
}

} // namespace

DepthStack::DepthStack(const Compute& compute) : m_state(std::make_shared<DepthStackState>())
{
    m_state->compute = compute;
}

std::size_t DepthStack::push(const at::Tensor& entry)
{
    const at::Tensor stored = entry.to(m_state->compute.residualType).contiguous();
    const std::size_t index = m_entries.size();
    at::Tensor value = stored.detach();
    m_state->entries.push_back({value, {}, {}});
    if (at::GradMode::is_enabled() && stored.requires_grad()) {
        auto node = std::make_shared<PushNode>(m_state, index);
        node->set_next_edges(torch::autograd::collect_next_edges(stored));
        at::Tensor alias = stored.detach();
        torch::autograd::set_history(alias, node);
        m_entries.push_back(std::move(alias));
    } else {
        m_entries.push_back(std::move(value));
    }
    return index;
}

DepthStack DepthStack::copy() const
{
    DepthStack other(m_state->compute);
    *other.m_state = *m_state;
    other.m_entries = m_entries;
    return other;
}

std::vector<at::Tensor> DepthStack::mix(std::span<const std::size_t> sources, const MixWeights& weights, int outputs,
                                        std::span<const at::Tensor> base, const EntryFactors& factors)
{
    if (std::ranges::any_of(sources, [&](std::size_t source) { return factors.contains(source); })) {
        return mixAltered(sources, weights, outputs, base, factors);
    }
    MixCall call;
    variable_list inputs{weights.weights, weights.tokenWeights, weights.gateVectors};
    std::vector<at::Tensor> bases;
    for (const at::Tensor& tensor : base) {
        inputs.push_back(tensor.to(m_state->compute.residualType).contiguous());
        bases.push_back(inputs.back().detach());
    }
    for (const std::size_t source : sources) {
        inputs.push_back(m_entries[source]);
        call.sources.push_back(m_state->entries[source].value);
    }
    call.weights = weights;
    call.weights.weights = detached(weights.weights);
    call.weights.tokenWeights = detached(weights.tokenWeights);
    call.weights.gateVectors = detached(weights.gateVectors);
    call.outputs = outputs;

    MixOutputs result;
    {
        const at::NoGradGuard noGrad;
        result = mixForward(m_state->compute, call, bases);
    }
    if (at::GradMode::is_enabled() && torch::autograd::any_variable_requires_grad(inputs)) {
        auto node = std::make_shared<MixNode>(m_state, std::vector<std::size_t>(sources.begin(), sources.end()),
                                              call.weights, outputs, bases.size(), result);
        node->set_next_edges(torch::autograd::collect_next_edges(inputs));
        torch::autograd::set_history(result.outputs, node);
    }
    return std::move(result.outputs);
}

/// Mixes the sources that have a factor other than 0. A gate inside the kernel is no number that could be multiplied:
/// what a gated source adds is computed alone.
std::vector<at::Tensor> DepthStack::mixAltered(std::span<const std::size_t> sources, const MixWeights& weights,
                                               int outputs, std::span<const at::Tensor> base,
                                               const EntryFactors& factors)
{
    TORCH_CHECK(!at::GradMode::is_enabled(), "an altered mix has no gradient");
    const bool gated = weights.gateKind != kernels::GateKind::none && weights.gateKind != kernels::GateKind::token;
    const std::vector<double> ones(static_cast<std::size_t>(outputs), 1);
    std::vector<std::size_t> places;
    std::vector<std::size_t> kept;
    std::vector<double> numbers;
    for (std::size_t place = 0; place < sources.size(); ++place) {
        const auto found = factors.find(sources[place]);
        const std::vector<double>& own = found == factors.end() ? ones : found->second;
        if (std::ranges::any_of(own, [](double factor) { return factor != 0; })) {
            places.push_back(place);
            kept.push_back(sources[place]);
            numbers.insert(numbers.end(), own.begin(), own.end());
        }
    }
    if (kept.empty()) {
        std::vector<at::Tensor> rest(base.begin(), base.end());
        rest.resize(static_cast<std::size_t>(outputs), at::zeros_like(entry(sources.front())));
        return rest;
    }
    const at::Tensor all = at::tensor(numbers, at::kDouble).view({-1, outputs}).t();
    std::vector<at::Tensor> mixes =
        mix(kept, altered(weights, places, gated ? at::ones_like(all) : all), outputs, base);
    for (std::size_t i = 0; gated && i < kept.size(); ++i) {
        const at::Tensor own = all.select(1, static_cast<std::int64_t>(i));
        if ((own != 1).any().item<bool>()) {
            const std::vector<at::Tensor> alone =
                mix({&kept[i], 1}, altered(weights, {&places[i], 1}, at::ones({outputs, 1}, at::kDouble)), outputs);
            for (std::size_t o = 0; o < alone.size(); ++o) {
                mixes[o] = mixes[o] + alone[o] * (own[static_cast<std::int64_t>(o)].item<double>() - 1);
            }
        }
    }
    return mixes;
}

} // namespace residua::engine
