// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/ops/mix_kernels.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ge.h>
#include <ATen/ops/gt.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mv.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros_like.h>

namespace residua::engine {
namespace {

using kernels::GateInput;
using kernels::GateKind;
using kernels::ReluGradAtZero;
using kernels::WeightKind;

constexpr double kGateEpsilon = kernels::MixStack{}.eps;

/// Returns a tensor [..., d] as [N, d] in the accumulation type.
at::Tensor rows(const at::Tensor& tensor, at::ScalarType type)
{
    return tensor.reshape({-1, tensor.size(-1)}).to(type);
}

at::Tensor reluGrad(const at::Tensor& value, ReluGradAtZero atZero)
{
    return atZero == ReluGradAtZero::one ? at::ge(value, 0) : at::gt(value, 0);
}

/// Returns a for multiplication by [N, d]: a number, or [1, d]; 0 if the mix has no trained weights.
at::Tensor trainedWeight(const MixWeights& weights, std::int64_t output, std::int64_t source,
                         const at::TensorOptions& options)
{
    return weights.weightKind == WeightKind::none ? at::empty({}, options).zero_() : weights.weights[output][source];
}

/// Returns the whole weight of a source, broadcastable to [N, d].
at::Tensor appliedWeight(const MixWeights& weights, std::int64_t output, std::int64_t source, const at::Tensor& token,
                         const at::TensorOptions& options)
{
    const at::Tensor a = trainedWeight(weights, output, source, options);
    switch (weights.gateKind) {
    case GateKind::none:
        return a;
    case GateKind::token:
        return a + token.unsqueeze(1);
    case GateKind::reluOutside:
        return a + at::relu(token).unsqueeze(1);
    case GateKind::reluInside:
        return at::relu(a + token.unsqueeze(1));
    }
    return a;
}

/// Returns relu' at the gate's argument: [N, 1], or [N, d] for per-feature weights inside.
at::Tensor gateSlope(const MixWeights& weights, std::int64_t output, std::int64_t source, const at::Tensor& logits,
                     const at::TensorOptions& options)
{
    at::Tensor argument = logits.unsqueeze(1);
    if (weights.gateKind == GateKind::reluInside) {
        argument = argument + trainedWeight(weights, output, source, options);
    }
    return reluGrad(argument, weights.reluGradAtZero).to(logits.scalar_type());
}

} // namespace

MixOutputs composeMix(const Compute& compute, const MixCall& call, std::span<const at::Tensor> base)
{
    const MixWeights& weights = call.weights;
    const at::Tensor& first = call.sources.front();
    const at::TensorOptions options = first.options().dtype(compute.parameterType);
    const auto sources = static_cast<std::int64_t>(call.sources.size());
    const std::int64_t tokens = first.numel() / first.size(-1);
    MixOutputs result;
    std::vector<at::Tensor> sums(static_cast<std::size_t>(call.outputs));
    for (std::size_t o = 0; o < sums.size() && !base.empty(); ++o) {
        sums[o] = rows(base[o], compute.parameterType);
    }
    if (isRelu(weights.gateKind)) {
        result.gateLogits = at::empty({call.outputs, sources, tokens}, options);
        if (weights.gateInput == GateInput::normalised) {
            result.rstd = at::empty({sources, tokens}, options);
        }
    }
    for (std::int64_t s = 0; s < sources; ++s) {
        const at::Tensor x = rows(call.sources[static_cast<std::size_t>(s)], compute.parameterType);
        if (result.rstd.defined()) {
            result.rstd[s].copy_(at::rsqrt((x * x).mean(1) + kGateEpsilon));
        }
        for (std::int64_t o = 0; o < call.outputs; ++o) {
            at::Tensor token;
            if (weights.gateKind == GateKind::token) {
                token = weights.tokenWeights[o][s];
            } else if (isRelu(weights.gateKind)) {
                token = at::mv(x, weights.gateVectors[o]);
                token = result.rstd.defined() ? token * result.rstd[s] : token;
                result.gateLogits[o][s].copy_(token);
            }
            const at::Tensor term = appliedWeight(weights, o, s, token, options) * x;
            at::Tensor& sum = sums[static_cast<std::size_t>(o)];
            sum = sum.defined() ? sum + term : term;
        }
    }
    for (const at::Tensor& sum : sums) {
        result.outputs.push_back(sum.to(first.scalar_type()).view(first.sizes()));
    }
    return result;
}

MixGradients composeMixWeightGrad(const Compute& compute, const MixCall& call, std::span<const at::Tensor> outGrads,
                                  const at::Tensor& gateLogits, const at::Tensor& rstd)
{
    const MixWeights& weights = call.weights;
    const at::Tensor& first = call.sources.front();
    const at::TensorOptions options = first.options().dtype(compute.parameterType);
    const auto sources = static_cast<std::int64_t>(call.sources.size());
    MixGradients result;
    if (weights.weights.defined()) {
        result.weights = at::zeros_like(weights.weights);
    }
    if (weights.gateKind != GateKind::none) {
        result.token = at::empty({call.outputs, sources, first.numel() / first.size(-1)}, options);
    }
    if (isRelu(weights.gateKind)) {
        result.gateVectors = at::zeros_like(weights.gateVectors);
    }
    for (std::int64_t o = 0; o < call.outputs; ++o) {
        const at::Tensor g = rows(outGrads[static_cast<std::size_t>(o)], compute.parameterType);
        for (std::int64_t s = 0; s < sources; ++s) {
            const at::Tensor x = rows(call.sources[static_cast<std::size_t>(s)], compute.parameterType);
            at::Tensor product = g * x;
            at::Tensor slope;
            if (isRelu(weights.gateKind)) {
                slope = gateSlope(weights, o, s, gateLogits[o][s], options);
            }
            if (result.weights.defined()) {
                const at::Tensor own = weights.gateKind == GateKind::reluInside ? product * slope : product;
                result.weights[o][s].copy_(weights.weightKind == WeightKind::scalar ? own.sum() : own.sum(0));
            }
            if (result.token.defined()) {
                const at::Tensor token = slope.defined() ? (product * slope).sum(1) : product.sum(1);
                result.token[o][s].copy_(token);
                if (slope.defined()) {
                    const at::Tensor q = rstd.defined() ? token * rstd[s] : token;
                    result.gateVectors[o].add_(at::mv(x.t(), q));
                }
            }
        }
    }
    return result;
}

at::Tensor composeMixGather(std::span<const MixReading> readings, const at::Tensor& own, const at::Tensor& source,
                            const at::Tensor& rstd)
{
    at::Tensor sum;
    const auto add = [&](const at::Tensor& term) { sum = sum.defined() ? sum + term : term; };
    for (const MixReading& reading : readings) {
        const MixWeights& weights = reading.call->weights;
        const at::Tensor& kept = weights.gateKind == GateKind::token ? weights.tokenWeights : reading.gateLogits;
        const at::ScalarType type = weights.weights.defined() ? weights.weights.scalar_type() : kept.scalar_type();
        const at::TensorOptions options = source.options().dtype(type);
        if (own.defined() && !sum.defined()) {
            sum = rows(own, type);
        }
        const at::Tensor token = kept.defined() ? kept[reading.output][reading.source] : at::Tensor();
        add(appliedWeight(weights, reading.output, reading.source, token, options) * rows(reading.outGrad, type));
        if (isRelu(weights.gateKind)) {
            at::Tensor q = reading.tokenGrad[reading.output][reading.source].unsqueeze(1);
            const at::Tensor u = weights.gateVectors[reading.output];
            if (weights.gateInput == GateInput::normalised) {
                const at::Tensor r = rstd.unsqueeze(1);
                add(q * r * u);
                add(-(q * token.unsqueeze(1) * r * r / source.size(-1)) * rows(source, type));
            } else {
                add(q * u);
            }
        }
    }
    if (!sum.defined()) {
        return own;
    }
    return sum.to(source.scalar_type()).view(source.sizes());
}

} // namespace residua::engine
