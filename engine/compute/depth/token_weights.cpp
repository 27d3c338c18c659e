// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/depth/depth_weights.h"

#include "engine/base/api/matrix_name.h"
#include "engine/compute/ops/fused.h"
#include "engine/compute/ops/norm.h"
#include "engine/compute/ops/part_selection.h"
#include "engine/runs/store/run_files.h"
#include "projects/base/mapped.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>

namespace residua::engine {

using projects::DepthMix;
using projects::DepthReader;
using projects::NormaliseOver;
using projects::WeightKind;

namespace {

constexpr double kNormEpsilon = 1e-6;

/// Computes the weights of one reader from its subclass's logits, and keeps those of the last pass for the matrices.
class TokenWeights : public DepthWeights {
public:
    TokenWeights(const DepthMix& mix, std::int64_t layers, const Compute& compute, const at::Tensor& shared = {})
        : DepthWeights(mix, layers, shared), m_compute(compute), m_weights(m_depth.readers.size())
    {
    }

    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t step) override
    {
        const at::NoGradGuard noGrad;
        std::vector<at::Tensor> means;
        std::vector<at::Tensor> spreads;
        for (std::size_t r = 0; r < m_depth.readers.size(); ++r) {
            if (m_depth.readers[r].sources.empty()) {
                continue;
            }
            if (!m_weights[r].defined()) {
                return {}; // no pass has run yet
            }
            means.push_back(m_weights[r].mean(2).flatten());
            spreads.push_back(m_weights[r].std(2, /*unbiased=*/false).flatten());
        }
        const at::Tensor both = at::cat({at::cat(means), at::cat(spreads)}).to(at::kCPU, at::kFloat);
        const float* const values = both.const_data_ptr<float>();
        const std::size_t terms = m_depth.terms.size();
        std::vector<Matrix> result;
        addMatrices(result, matrix::kMix, m_depth, {values, terms}, step);
        addMatrices(result, matrix::kSpread, m_depth, {values + terms, terms}, step);
        return result;
    }

protected:
    [[nodiscard]] std::vector<WeighedSources> of(std::size_t index, const MixInputs& inputs,
                                                 const DepthStack& stack) override
    {
        at::Tensor values = logits(index, inputs, stack);
        if (m_mix.normalise == NormaliseOver::Sources) {
            values = at::softmax(values / m_mix.temperature, 1);
        }
        if (!inputs.before.empty()) {
            // The factors of the present sources, or of all, as the logits have them.
            std::vector<double> factors;
            for (std::size_t source = 0; source < reader(index).sources.size(); ++source) {
                const bool is = values.size(1) == std::ssize(reader(index).sources) ||
                                std::ranges::binary_search(inputs.places, source);
                factors.insert(factors.end(), is ? 1 : 0, inputs.before[source]);
            }
            values = values * at::tensor(factors, at::kDouble).to(values.options()).unsqueeze(1);
            values = values / values.sum(1, true).clamp_min(std::numeric_limits<float>::min());
        }
        const auto present = static_cast<std::int64_t>(inputs.places.size());
        MixWeights result;
        result.weightKind = kernels::WeightKind::none;
        result.gateKind = kernels::GateKind::token;
        result.tokenWeights = (values.size(1) == present ? values : atPlaces(values, 1, inputs.places)).contiguous();
        m_weights[index] = ofAllSources(index, result.tokenWeights.detach(), inputs.places);
        return {{inputs.entries, std::move(result)}};
    }

    /// Returns [outputs, sources, tokens] in the parameters' type, for all the reader's sources or only the present
    /// ones.
    [[nodiscard]] virtual at::Tensor logits(std::size_t index, const MixInputs& inputs, const DepthStack& stack) = 0;

    [[nodiscard]] const DepthReader& reader(std::size_t index) const { return m_depth.readers[index]; }
    [[nodiscard]] const Compute& compute() const { return m_compute; }

private:
    /// Returns the values with NaN (no weight) for absent sources. The backward pass keeps the other values in any
    /// case.
    [[nodiscard]] at::Tensor ofAllSources(std::size_t index, const at::Tensor& values,
                                          std::span<const std::size_t> places) const
    {
        const auto sources = static_cast<std::int64_t>(reader(index).sources.size());
        if (values.size(1) == sources) {
            return values;
        }
        at::Tensor all = at::full({values.size(0), sources, values.size(2)}, std::numeric_limits<double>::quiet_NaN(),
                                  values.options());
        for (std::size_t i = 0; i < places.size(); ++i) {
            all.select(1, static_cast<std::int64_t>(places[i])).copy_(values.select(1, static_cast<std::int64_t>(i)));
        }
        return all;
    }

    const Compute m_compute;
    std::vector<at::Tensor> m_weights; ///< of each reader in the last pass, [outputs, sources, tokens]
};

class PerTokenWeights final : public TokenWeights {
public:
    PerTokenWeights(const DepthMix& mix, std::int64_t layers, const WiringTensors& tensors, const Compute& compute)
        : TokenWeights(mix, layers, compute),
          m_hidden(tensors.each("hidden", m_depth.readers.size())),
          m_outputs(tensors.each("mix", m_depth.readers.size())),
          m_biases(tensors.each("bias", m_depth.readers.size()))
    {
    }

private:
    [[nodiscard]] at::Tensor logits(std::size_t index, const MixInputs& inputs, const DepthStack&) override
    {
        if (!m_ones.defined()) {
            m_ones = at::ones({m_hidden[index].size(1)}, m_hidden[index].options());
        }
        const at::Tensor x = rmsNorm(inputs.newest, m_ones, kNormEpsilon);
        const at::Tensor h = at::gelu(linear(compute(), x.flatten(0, -2), m_hidden[index]));
        const at::Tensor values = at::linear(h.to(compute().parameterType), m_outputs[index], m_biases[index]);
        return values.t().reshape({reader(index).outputs, -1, values.size(0)});
    }

    std::vector<at::Tensor> m_hidden; ///< of each reader; undefined if it reads nothing
    std::vector<at::Tensor> m_outputs;
    std::vector<at::Tensor> m_biases;
    at::Tensor m_ones; ///< the gain of the norm
};

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

/// Computes z[m, n] = ⟨u_m, x_n⟩ / √(mean x_n² + ε) in the type of u, for x [..., d] and u [mixes, d]. Handles all
/// readers of an entry together: the forward reads the entry once, and the backward sums one gradient for it in the
/// type of u. Keeps only x, u, z and one tensor [n].
class LogitsFunction : public torch::autograd::Function<LogitsFunction> {
public:
    static Variable forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& u)
    {
        const at::Tensor rows = x.flatten(0, -2).to(u.scalar_type());
        const at::Tensor rstd = at::rsqrt((rows * rows).mean(1) + kNormEpsilon);
        at::Tensor z = at::matmul(u, rows.t()) * rstd;
        context->save_for_backward({x, u, rstd, z});
        return z;
    }

    static variable_list backward(AutogradContext* context, const variable_list& grads)
    {
        const variable_list saved = context->get_saved_variables();
        const auto& [x, u, rstd, z] = std::tie(saved[0], saved[1], saved[2], saved[3]);
        const at::Tensor rows = x.flatten(0, -2).to(u.scalar_type());
        const at::Tensor scaled = grads[0] * rstd;
        // d⟨u, x⟩r = r·u − z r²/d · x
        const at::Tensor along = (grads[0] * z).sum(0) * (rstd * rstd) / static_cast<double>(x.size(-1));
        const at::Tensor xGrad = at::matmul(scaled.t(), u) - along.unsqueeze(1) * rows;
        return {xGrad.to(x.scalar_type()).view(x.sizes()), at::matmul(scaled, rows)};
    }
};

class AttentionWeights final : public TokenWeights {
public:
    AttentionWeights(const DepthMix& mix, std::int64_t layers, const WiringTensors& tensors, const Compute& compute,
                     const at::Tensor& shared)
        : TokenWeights(mix, layers, compute, shared), m_query(tensors["query"]), m_norm(tensors["norm"])
    {
    }

    void begin(const Pass&) override
    {
        m_vectors = byReader(m_query * m_norm);
        m_entries.clear();
    }
    void end() override
    {
        m_vectors.reset();
        m_entries.clear();
    }

private:
    /// The logits of an entry for the readers from `first` on.
    struct Seen {
        std::size_t first = 0;
        std::vector<at::Tensor> logits; ///< [outputs, tokens] for each of them
    };

    [[nodiscard]] at::Tensor logits(std::size_t index, const MixInputs& inputs, const DepthStack& stack) override
    {
        const auto values = mapped(inputs.entries, [&](const std::size_t entry) { return seen(entry, index, stack); });
        return at::stack(values, 1);
    }

    const at::Tensor& seen(std::size_t entry, std::size_t index, const DepthStack& stack)
    {
        if (m_entries.size() <= entry) {
            m_entries.resize(entry + 1);
        }
        Seen& seen = m_entries[entry];
        if (seen.logits.empty()) {
            const auto row = static_cast<std::int64_t>(index * m_depth.ports.size());
            std::vector<std::int64_t> sizes;
            for (std::size_t r = index; r < m_depth.readers.size(); ++r) {
                sizes.push_back(reader(r).outputs);
            }
            const at::Tensor all = LogitsFunction::apply(stack.entry(entry), m_vectors.slice(0, row).contiguous());
            seen = {index, all.split_with_sizes(sizes)};
        }
        return seen.logits[index - seen.first];
    }

    at::Tensor m_query; ///< [mixes, d], those of a reader one after the other
    at::Tensor m_norm;
    at::Tensor m_vectors;        ///< q ⊙ w in this pass
    std::vector<Seen> m_entries; ///< by their index among the stack entries
};

} // namespace

DepthRuleResult makeTokenWeights(const DepthMix& mix, std::int64_t layers, const WiringTensors& tensors,
                                 const Compute& compute, const at::Tensor& shared)
{
    if (mix.weight == WeightKind::DepthAttention) {
        return std::unique_ptr<DepthRule>(std::make_unique<AttentionWeights>(mix, layers, tensors, compute, shared));
    }
    return std::unique_ptr<DepthRule>(std::make_unique<PerTokenWeights>(mix, layers, tensors, compute));
}

} // namespace residua::engine
