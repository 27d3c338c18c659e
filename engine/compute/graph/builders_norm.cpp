// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/graph/fusion.h"
#include "engine/compute/graph/node_builder.h"
#include "engine/compute/graph/operator.h"
#include "engine/compute/ops/norm.h"
#include "engine/compute/ops/operators.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/ones.h>
#include <c10/util/Exception.h>

namespace residua::engine {
namespace {

using projects::paramBool;
using projects::paramDouble;
using projects::paramText;

/// Returns the weight and, if requested, the bias: its own, or those of the norm that it shares with. Either may be
/// built first.
std::vector<at::Tensor> normWeights(const NodeContext& node, bool bias)
{
    const std::string shared = weightOwnerOf(node.node);
    const std::string& owner = shared.empty() ? node.node.name : shared;
    std::vector<at::Tensor>& weights = node.sharedNorms[owner];
    if (weights.empty()) {
        const std::string name = node.graphPrefix + owner;
        weights.push_back(node.plan.add(name + ".weight", {node.features()}, Role::Gain));
        if (bias) {
            weights.push_back(node.plan.add(name + ".bias", {node.features()}, Role::Bias));
        }
    }
    return weights;
}

OperatorResult normOperator(const NodeContext& node, Norm norm)
{
    const Compute& compute = node.plan.compute();
    norm.epsilon = paramDouble(node.params, "epsilon");
    norm.notesLargest = compute.products == Products::EightBit;
    return OperatorResult(std::make_unique<NormOperator>(compute, std::move(norm)));
}

OperatorResult buildRmsNorm(const NodeContext& node)
{
    return normOperator(node, {kernels::NormKind::rms, normWeights(node, false)[0], {}});
}

OperatorResult buildLayerNorm(const NodeContext& node)
{
    if (!paramBool(node.params, "affine")) {
        return makeOperator([epsilon = paramDouble(node.params, "epsilon")](const Inputs& in, const Pass&) {
            return at::layer_norm(in[0], {in[0].size(-1)}, {}, {}, epsilon);
        });
    }
    std::vector<at::Tensor> weights = normWeights(node, paramBool(node.params, "bias"));
    weights.resize(2);
    return normOperator(node, {kernels::NormKind::layer, weights[0], weights[1]});
}

OperatorResult buildActivation(const NodeContext& node)
{
    const std::string& function = paramText(node.params, "function");
    if (const ActivationFunction apply = activationFunction(function)) {
        return makeOperator([apply](const Inputs& in, const Pass&) { return apply(in[0]); });
    }
    return Error{"function", "the engine does not know " + function};
}

OperatorResult buildSwiglu(const NodeContext&)
{
    return OperatorResult(std::make_unique<SwigluOperator>());
}

class DropoutOperator final : public Operator {
public:
    DropoutOperator(double rate, bool ofExamples, std::uint64_t stream)
        : m_rate(rate), m_ofExamples(ofExamples), m_stream(stream)
    {
    }
    [[nodiscard]] at::Tensor run(const Inputs& in, const Pass& pass) const override
    {
        const at::Tensor& x = in[0];
        if (!m_ofExamples || !pass.training() || m_rate == 0) {
            return dropped(x, in, pass);
        }
        std::vector<std::int64_t> shape(static_cast<std::size_t>(x.dim()), 1);
        shape.front() = x.size(0);
        return x * dropped(at::ones(shape, x.options().requires_grad(false)), in, pass);
    }
    [[nodiscard]] bool drops() const override { return m_rate > 0; }

private:
    [[nodiscard]] at::Tensor dropped(const at::Tensor& x, const Inputs& in, const Pass& pass) const
    {
        return pass.training() && pass.draws.defined()
                   ? dropout(x, m_rate, streamOfVisit(m_stream, in.layer()), pass.draws)
                   : at::dropout(x, m_rate, pass.training());
    }

    double m_rate;
    bool m_ofExamples;
    std::uint64_t m_stream;
};

OperatorResult buildDropout(const NodeContext& node)
{
    return OperatorResult(std::make_unique<DropoutOperator>(
        projects::dropRateAt(node.params, node.depth),
        paramText(node.params, projects::kDropUnitParam) == projects::kDropExamples, streamKey(0, node.prefix())));
}

/// Normalises each feature by its moments over the rows of a training pass, or over those of all processes that share
/// its micro-batch. The pass also moves the running moments, by which evaluation normalises. Computes in the type of
/// its parameters; returns the input's type.
class BatchNormOperator final : public Operator {
public:
    struct Tensors {
        at::Tensor weight;
        at::Tensor bias;
        at::Tensor mean;
        at::Tensor variance;
    };
    BatchNormOperator(std::string place, Tensors tensors, const projects::ParamMap& params)
        : m_place(std::move(place)),
          m_tensors(std::move(tensors)),
          m_momentum(paramDouble(params, "momentum")),
          m_epsilon(paramDouble(params, "epsilon")),
          m_ofBatch(paramText(params, projects::kMomentsParam) == projects::kMomentsOfBatch)
    {
    }
    [[nodiscard]] at::Tensor run(const Inputs& in, const Pass& pass) const override
    {
        const at::Tensor rows = in[0].reshape({-1, in[0].size(-1)}).to(m_tensors.weight.scalar_type());
        const bool isShared = pass.training() && m_ofBatch && pass.parts != nullptr;
        TORCH_CHECK_VALUE(!pass.training() || isShared || rows.size(0) > 1, m_place,
                          " normalises over the rows of a micro-batch, got one row, expected at least two: a larger "
                          "batch, longer sequences, or fewer ranks");
        const bool holds = pass.training() && pass.holdsBuffers;
        const at::Tensor y =
            isShared ? overParts(rows, *pass.parts, holds)
                     : at::batch_norm(rows, m_tensors.weight, m_tensors.bias, holds ? at::Tensor() : m_tensors.mean,
                                      holds ? at::Tensor() : m_tensors.variance, pass.training(), m_momentum, m_epsilon,
                                      /*cudnn_enabled=*/false);
        return y.to(in[0].scalar_type()).reshape(in[0].sizes());
    }

private:
    [[nodiscard]] at::Tensor overParts(const at::Tensor& rows, const BatchParts& parts, bool holds) const
    {
        const BatchNormed normed = sharedBatchNorm(rows, m_tensors.weight, m_tensors.bias, m_epsilon, parts);
        if (!holds) {
            const at::NoGradGuard noGrad;
            const auto count = static_cast<double>(rows.size(0) * parts.count);
            m_tensors.mean.lerp_(normed.mean, m_momentum);
            m_tensors.variance.lerp_(normed.variance * (count / (count - 1)), m_momentum);
        }
        return normed.y;
    }

    std::string m_place;
    Tensors m_tensors;
    double m_momentum;
    double m_epsilon;
    bool m_ofBatch;
};

OperatorResult buildBatchNorm(const NodeContext& node)
{
    const std::int64_t features = node.features();
    return OperatorResult(std::make_unique<BatchNormOperator>(
        node.place,
        BatchNormOperator::Tensors{node.parameter("weight", {features}, Role::Gain),
                                   node.parameter("bias", {features}, Role::Bias),
                                   node.plan.addBuffer(node.prefix() + "running_mean", {features}, 0),
                                   node.plan.addBuffer(node.prefix() + "running_var", {features}, 1)},
        node.params));
}

OperatorResult buildScale(const NodeContext& node)
{
    const double value = paramDouble(node.params, "value");
    const std::string& learned = paramText(node.params, "learned");
    if (learned == "no") {
        return makeOperator([value](const Inputs& in, const Pass&) { return in[0] * value; });
    }
    const std::int64_t size = learned == "scalar" ? 1 : node.features();
    const at::Tensor factor = node.plan.addConstant(node.prefix() + "factor", {size}, value, Decay::No);
    return makeOperator([factor](const Inputs& in, const Pass&) { return in[0] * factor.to(in[0].scalar_type()); });
}

constexpr NodeBuilderEntry kNormBuilders[] = {
    {"rms_norm", buildRmsNorm},      {"layer_norm", buildLayerNorm}, {"batch_norm", buildBatchNorm},
    {"activation", buildActivation}, {"swiglu", buildSwiglu},        {"dropout", buildDropout},
    {"scale", buildScale},
};

} // namespace

std::span<const NodeBuilderEntry> normBuilders()
{
    return kNormBuilders;
}

} // namespace residua::engine
