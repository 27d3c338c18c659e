// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/graph/fusion.h"

#include "engine/compute/init/weight_inputs.h"
#include "engine/compute/ops/fused.h"
#include "engine/compute/ops/joined_linear.h"
#include "engine/compute/ops/part_selection.h"
#include "engine/compute/runtime/host_path.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/tensor.h>
#include <c10/core/ScalarType.h>

#include <algorithm>

namespace residua::engine {
namespace {

// Products of bfloat16 rows of unaligned length are slow, and whole tiles are the fastest.
constexpr std::int64_t kAlignedFeatures = 8; ///< 16 bytes
constexpr std::int64_t kTileFeatures = 64;

class GatedLinearOperator final : public Operator {
public:
    /// The number of features of its result is the next multiple of `multiple`, if the pass runs the whole MLP.
    GatedLinearOperator(const LinearOperator& gate, const LinearOperator& up, std::int64_t multiple)
        : m_compute(gate.compute()),
          m_weights{gate.weight().whole, up.weight().whole},
          m_joined(joinRows(m_weights, multiple)),
          m_side(gate.side()),
          m_mlp(gate.mlp())
    {
    }

    [[nodiscard]] bool castsInputs() const override { return true; }
    [[nodiscard]] at::Tensor run(const Inputs& in, const Pass& pass) const override
    {
        if (pass.weightInputs != nullptr) {
            std::ranges::for_each(m_weights, [&](const at::Tensor& each) { pass.weightInputs->add(each, in[0]); });
        }
        const LayerUse& layer = in.layer();
        const at::Tensor x = in[0].to(m_compute.activationType);
        const at::Tensor joined = rounded(m_compute, m_joined);
        if (m_side != MlpSide::Opens || layer.mlp.all()) {
            return gatedLinear(x, m_weights[0], m_weights[1], joined, m_compute.products);
        }
        const KeptParts kept = keptParts(layer.mlp, layer.mlpParts, m_mlp);
        const PartRuns rows(m_weights[0].size(0), layer.mlpParts, kept.parts);
        const at::Tensor hidden = gatedLinear(x, m_weights[0], m_weights[1], joined, m_compute.products, rows);
        return rows.all() ? hidden.narrow(-1, 0, m_weights[0].size(0)) : hidden;
    }

private:
    Compute m_compute;
    std::vector<at::Tensor> m_weights;
    at::Tensor m_joined;
    MlpSide m_side;
    std::uint64_t m_mlp;
};

/// Returns the factors of the kept parts, repeated for each of an MLP's hidden features: [hidden features].
at::Tensor featureFactors(const KeptParts& kept, const at::Tensor& like)
{
    const at::Tensor factors = at::tensor(kept.factors, at::kDouble).to(like.device(), like.scalar_type());
    return factors.repeat_interleave(like.size(-1) / factors.size(0));
}

/// Returns the step that computes `slot`, if `slot` has one reader; else the end.
std::vector<ProgramStep>::iterator soleMaker(std::vector<ProgramStep>& steps, std::size_t slot,
                                             std::span<const std::size_t> outputs)
{
    std::ptrdiff_t readers = std::ranges::count(outputs, slot);
    for (const ProgramStep& step : steps) {
        readers += std::ranges::count(step.in, slot);
    }
    return readers == 1 ? std::ranges::find(steps, slot, &ProgramStep::out) : steps.end();
}

/// Returns the step that computes `slot` as a product without bias, if `slot` has one reader; else the end.
std::vector<ProgramStep>::iterator soleProduct(std::vector<ProgramStep>& steps, std::size_t slot,
                                               std::span<const std::size_t> outputs)
{
    const auto maker = soleMaker(steps, slot, outputs);
    const auto* const product = maker == steps.end() ? nullptr : dynamic_cast<const LinearOperator*>(maker->run.get());
    return product && !product->hasBias() && product->weight().isPlain() ? maker : steps.end();
}

bool reads(const ProgramStep& step, std::size_t slot)
{
    return step.run && std::ranges::find(step.in, slot) != step.in.end();
}

/// True if a product with a whole weight reads `slot`, and nothing else.
bool isReadByOneProduct(const std::vector<ProgramStep>& steps, std::size_t slot, std::span<const std::size_t> outputs)
{
    const auto isReader = [&](const ProgramStep& step) { return reads(step, slot); };
    const auto reader = std::ranges::find_if(steps, isReader);
    const auto* const product =
        reader == steps.end() ? nullptr : dynamic_cast<const LinearOperator*>(reader->run.get());
    return product != nullptr && product->weight().isPlain() && std::ranges::count_if(steps, isReader) == 1 &&
           std::ranges::find(outputs, slot) == outputs.end();
}

/// Replaces a SwiGLU and its two products by one step, if they match.
void fuseGatedLinear(std::vector<ProgramStep>& steps, ProgramStep& swiglu, std::span<const std::size_t> outputs)
{
    const auto gate = soleProduct(steps, swiglu.in[0], outputs);
    const auto up = soleProduct(steps, swiglu.in[1], outputs);
    if (gate == steps.end() || up == steps.end() || gate->in != up->in) {
        return;
    }
    const auto& gateProduct = dynamic_cast<const LinearOperator&>(*gate->run);
    const auto& upProduct = dynamic_cast<const LinearOperator&>(*up->run);
    const bool pads = !takesHostPath(gateProduct.compute().device) &&
                      gateProduct.weight().out() % kAlignedFeatures != 0 &&
                      isReadByOneProduct(steps, swiglu.out, outputs);
    swiglu.run = std::make_unique<GatedLinearOperator>(gateProduct, upProduct, pads ? kTileFeatures : 1);
    swiglu.in = gate->in;
    gate->run.reset();
    up->run.reset();
}

/// Lets a norm compute a sum of two, and pass on what it is the norm of.
void takeSum(std::vector<ProgramStep>& steps, ProgramStep& norm, std::span<const std::size_t> outputs,
             std::span<const std::size_t> kept)
{
    const std::size_t slot = norm.in[0];
    const auto own = steps.begin() + (&norm - steps.data());
    const auto isReader = [&](const ProgramStep& step) { return reads(step, slot); };
    if (std::any_of(own + 1, steps.end(), isReader) || std::ranges::find(outputs, slot) != outputs.end()) {
        norm.second = slot;
    }
    const auto sum = std::find_if(steps.begin(), own, [&](const ProgramStep& step) { return step.out == slot; });
    if (sum != own && sum->run && addsTwo(*sum->run, sum->in) && std::ranges::find(kept, slot) == kept.end() &&
        std::none_of(sum, own, isReader)) {
        norm.in = sum->in;
        sum->run.reset();
    }
}

/// Lets a norm return the activation type if all its readers are operators that cast it.
void narrowNorm(const std::vector<ProgramStep>& steps, std::size_t slot, NormOperator& norm,
                std::span<const std::size_t> outputs)
{
    const bool allCast = std::ranges::all_of(steps, [&](const ProgramStep& step) {
        return std::ranges::find(step.in, slot) == step.in.end() || step.run->castsInputs();
    });
    if (allCast && std::ranges::find(outputs, slot) == outputs.end() && !takesHostPath(norm.compute().device)) {
        norm.narrow();
    }
}

} // namespace

LinearOperator::LinearOperator(const Compute& compute, Weight weight, at::Tensor bias)
    : m_compute(compute), m_weight(std::move(weight)), m_bias(std::move(bias))
{
}

at::Tensor LinearOperator::run(const Inputs& in, const Pass& pass) const
{
    const std::int64_t zeros = in[0].size(-1) - m_weight.in();
    if (pass.weightInputs != nullptr) {
        pass.weightInputs->add(m_weight.parameter(), in[0].narrow(-1, 0, m_weight.in()));
    }
    const LayerUse& layer = in.layer();
    if (zeros > 0) {
        return linear(m_compute, in[0], at::constant_pad_nd(rounded(m_compute, m_weight.whole), {0, zeros}), m_bias);
    }
    if (m_side == MlpSide::None || layer.mlp.all()) {
        return linear(m_compute, in[0], m_weight, m_bias);
    }
    const KeptParts kept = keptParts(layer.mlp, layer.mlpParts, m_mlp);
    if (m_side == MlpSide::Opens) {
        const at::Tensor bias = m_bias.defined() ? atParts(m_bias, 0, layer.mlpParts, kept.parts) : m_bias;
        return linear(m_compute, in[0], rowsAt(m_weight, layer.mlpParts, kept.parts), bias);
    }
    const at::Tensor x = kept.factors.empty() ? in[0] : in[0] * featureFactors(kept, in[0]);
    return linear(m_compute, x, columnsAt(m_weight, layer.mlpParts, kept.parts), m_bias);
}

at::Tensor AddOperator::run(const Inputs& in, const Pass&) const
{
    at::Tensor sum = in[0];
    for (std::size_t i = 1; i < in.size(); ++i) {
        if (in[i].defined()) {
            sum = sum.defined() ? sum + in[i] : in[i];
        }
    }
    return sum;
}

bool addsTwo(const Operator& run, std::span<const std::size_t> in)
{
    const auto* const sum = dynamic_cast<const AddOperator*>(&run);
    return in.size() == 2 && sum != nullptr && !sum->broadcasts();
}

at::Tensor NormOperator::run(const Inputs& in, const Pass& pass) const
{
    if (in.size() == 1) {
        return normalised(m_norm, in[0], m_type.value_or(in[0].scalar_type()));
    }
    return runBoth(in, pass).first;
}

std::pair<at::Tensor, at::Tensor> NormOperator::runBoth(const Inputs& in, const Pass&) const
{
    const at::Tensor branch = in.size() > 1 ? in[1] : at::Tensor();
    const at::ScalarType first = in[0].scalar_type();
    const at::ScalarType type = branch.defined() ? c10::promoteTypes(first, branch.scalar_type()) : first;
    const bool isFirst = first == type;
    const NormalisedSum both =
        normalisedSum(m_norm, isFirst ? in[0] : branch, isFirst ? branch : in[0], m_type.value_or(type));
    return {both.normalised, both.sum};
}

at::Tensor SwigluOperator::run(const Inputs& in, const Pass&) const
{
    return swiglu(in[0], in[1]);
}

void fuse(std::vector<ProgramStep>& steps, std::span<const std::size_t> outputs, std::span<const std::size_t> kept)
{
    for (ProgramStep& step : steps) {
        if (dynamic_cast<const SwigluOperator*>(step.run.get())) {
            fuseGatedLinear(steps, step, outputs);
        } else if (dynamic_cast<const NormOperator*>(step.run.get())) {
            takeSum(steps, step, outputs, kept);
        }
    }
    std::erase_if(steps, [](const ProgramStep& step) { return !step.run; });
    for (const ProgramStep& step : steps) {
        if (auto* const norm = dynamic_cast<NormOperator*>(step.run.get())) {
            narrowNorm(steps, step.out, *norm, outputs);
        }
    }
}

} // namespace residua::engine
