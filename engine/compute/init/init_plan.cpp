// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/init/init_plan.h"

#include "projects/base/mapped.h"
#include "projects/model/parameter_name.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/erfinv.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linalg_qr.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sign.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace residua::engine {
namespace {

using projects::InitLaw;

constexpr double kTableScale = 0.02;
constexpr double kDrawnShare = 0.05; ///< of the work, if weights are also fitted

projects::ParameterClass classOf(Role role)
{
    using projects::ParameterClass;
    const bool isMatrix = role == Role::Matrix || role == Role::ResidualMatrix;
    return isMatrix ? ParameterClass::Matrix : role == Role::Table ? ParameterClass::Table : ParameterClass::Vector;
}

/// Returns normal numbers truncated at two standard deviations, scaled to variance 1.
at::Tensor truncatedNormal(at::IntArrayRef shape, const Philox& random)
{
    constexpr double kCut = 2;
    constexpr double kDeviation = 0.8796256610342398; // of the standard normal between -2 and 2
    const double mass = std::erf(kCut / std::numbers::sqrt2);
    return at::erfinv(drawSymmetric(shape, random) * mass) * (std::numbers::sqrt2 / kDeviation);
}

/// Returns a matrix with orthonormal rows or columns, whichever are fewer, uniform over such matrices.
at::Tensor orthogonal(std::int64_t rows, std::int64_t columns, const Philox& random)
{
    const bool tall = rows >= columns;
    const at::Tensor start = tall ? drawNormal({rows, columns}, random) : drawNormal({columns, rows}, random);
    const auto [q, r] = at::linalg_qr(start);
    const at::Tensor result = q * at::sign(r.diagonal());
    return tall ? result : result.t().contiguous();
}

/// Returns features [heads, r, e] of an attention's kernel. Each block of e rows of a head is orthogonal, with the
/// lengths of independent rows of N(0, I) (Choromanski et al. 2020, section 2.4).
at::Tensor orthogonalFeatures(at::IntArrayRef shape, const Philox& random)
{
    const std::int64_t e = shape[2];
    const std::int64_t blocks = (shape[1] + e - 1) / e;
    const at::Tensor drawn = drawNormal({2, shape[0], blocks, e, e}, random);
    const auto [q, r] = at::linalg_qr(drawn[0]);
    const at::Tensor directions = q * at::sign(r.diagonal(0, -2, -1)).unsqueeze(-2);
    const at::Tensor lengths = drawn[1].norm(2, -1, true);
    return (directions.transpose(-2, -1) * lengths).flatten(1, 2).narrow(1, 0, shape[1]).contiguous();
}

/// Draws a matrix [out, in, …] by the document's law; further dimensions (a kernel's) count as inputs.
at::Tensor drawMatrix(at::IntArrayRef shape, const projects::Initialisation& initialisation, const Philox& random)
{
    std::int64_t in = 1;
    for (std::size_t i = 1; i < shape.size(); ++i) {
        in *= shape[i];
    }
    const std::int64_t out = shape[0];
    switch (initialisation.law) {
    case InitLaw::Normal:
        return drawNormal(shape, random) * initialisation.scale;
    case InitLaw::XavierUniform:
        return drawSymmetric(shape, random) * (initialisation.scale * std::sqrt(6.0 / static_cast<double>(in + out)));
    case InitLaw::KaimingNormal:
        return drawNormal(shape, random) * (initialisation.scale * std::sqrt(2.0 / static_cast<double>(in)));
    case InitLaw::Orthogonal:
        return orthogonal(out, in, random).reshape(shape) * initialisation.scale;
    case InitLaw::TruncatedNormal:
        return truncatedNormal(shape, random) * (initialisation.scale / std::sqrt(static_cast<double>(in)));
    case InitLaw::Identity:
        return at::eye(out, in, at::kDouble).reshape(shape) * initialisation.scale;
    }
    TORCH_CHECK(false, "unknown law of initialisation");
}

} // namespace

at::Tensor unfolded(const at::Tensor& whole, Unfolding unfolding)
{
    return unfolding == Unfolding::BySide
               ? whole.permute({0, 2, 1, 3}).reshape({whole.size(0) * whole.size(2), whole.size(1) * whole.size(3)})
               : whole.flatten(1);
}

InitPlan::InitPlan(const Compute& compute, const projects::Initialisation& initialisation, std::int64_t seed,
                   StackStart stack)
    : m_compute(compute), m_initialisation(initialisation), m_seed(seed), m_stack(stack)
{
}

void InitPlan::enter(std::string scope, StackStart stack, Weights weights)
{
    m_weights = weights;
    m_scope = std::move(scope);
    m_stack = stack;
}

at::Tensor InitPlan::add(const std::string& name, at::IntArrayRef shape, Role role)
{
    const bool decays = role != Role::Gain && role != Role::Bias && role != Role::Features && role != Role::Drawn;
    return add(name, shape, {.role = role, .values = {}, .follows = {}}, decays ? Decay::Yes : Decay::No);
}

at::Tensor InitPlan::add(const std::string& unscoped, at::IntArrayRef shape, ParameterStart start, Decay decay)
{
    const std::string name = scoped(unscoped);
    start.stack = m_stack;
    const auto shared =
        m_weights == Weights::Own ? m_parameters.end() : std::ranges::find(m_parameters, name, &NamedParameter::name);
    if (m_weights == Weights::Shared || shared != m_parameters.end()) {
        TORCH_CHECK(shared != m_parameters.end() && shared->tensor.sizes() == shape,
                    "the tower that has the weights has "
                    "no parameter ",
                    name, " of the shape ", shape);
        return m_declared.emplace_back(shared->tensor);
    }
    TORCH_CHECK(m_names.insert(name).second, "two parameters are named ", name);
    at::Tensor tensor = at::empty(shape, at::TensorOptions(m_compute.device).dtype(m_compute.parameterType));
    tensor.requires_grad_(true);
    m_parameters.push_back({.name = name,
                            .tensor = tensor,
                            .decay = decay,
                            .writesResidual = start.role == Role::ResidualMatrix,
                            .is = classOf(start.role)});
    m_starts.push_back(std::move(start));
    m_declared.push_back(tensor);
    return tensor;
}

Weight InitPlan::addWeight(const std::string& name, at::IntArrayRef shape, ParameterStart start,
                           std::optional<std::int64_t> rank, Unfolding unfolding)
{
    if (!rank) {
        return {add(name, shape, std::move(start), Decay::Yes), {}, {}};
    }
    start.stack = m_stack;
    FactoredWeight weight{scoped(name), shape.vec(), start, 0, 0, unfolding};
    std::vector<std::int64_t> inner = shape.vec();
    std::int64_t rows = shape.front();
    inner.front() = *rank;
    if (unfolding == Unfolding::BySide) {
        rows *= shape[2];
        inner[2] = 1;
    }
    weight.v = m_parameters.size();
    const at::Tensor v = add(projects::siblingOf(name, "v"), inner, {.values = {}, .follows = {}}, Decay::Yes);
    weight.u = m_parameters.size();
    const at::Tensor u = add(projects::siblingOf(name, "u"), {rows, *rank}, std::move(start), Decay::Yes);
    if (m_weights == Weights::Own) {
        m_factored.push_back(std::move(weight));
    }
    return {{}, u, v};
}

at::Tensor InitPlan::addFeatures(const std::string& name, at::IntArrayRef shape, AttentionFeatures attention)
{
    if (m_weights == Weights::Own) {
        attention.parameter = m_parameters.size();
        m_attentions.push_back(std::move(attention));
    }
    return add(name, shape, Role::Features);
}

at::Tensor InitPlan::addConstant(const std::string& name, at::IntArrayRef shape, double value, Decay decay)
{
    return add(name, shape, {.role = Role::Given, .values = at::full({}, value, at::kDouble), .follows = {}}, decay);
}

at::Tensor InitPlan::addValues(const std::string& name, const at::Tensor& values, Decay decay)
{
    return add(name, values.sizes(), {.role = Role::Given, .values = values, .follows = {}}, decay);
}

at::Tensor InitPlan::addBuffer(const std::string& name, at::IntArrayRef shape, double value)
{
    at::Tensor buffer = addConstant(name, shape, value, Decay::No);
    if (m_weights == Weights::Own) {
        m_parameters.back().isBuffer = true;
    }
    return buffer.requires_grad_(false);
}

void InitPlan::hold(const std::string& name, const at::Tensor& elements)
{
    const auto parameter = std::ranges::find(m_parameters, scoped(name), &NamedParameter::name);
    TORCH_CHECK(parameter != m_parameters.end(), "there is no parameter ", name, " to hold");
    parameter->held = elements;
}

void InitPlan::divide(const at::Tensor& parameter, const PartSlices& slices)
{
    const auto declared =
        std::ranges::find_if(m_parameters, [&](const NamedParameter& each) { return each.tensor.is_same(parameter); });
    if (parameter.defined() && declared != m_parameters.end()) {
        declared->slices = slices;
    }
}

Status InitPlan::fill(const PreparationWatch& watch, const std::function<bool(const std::string& name)>& wanted)
{
    const at::NoGradGuard noGrad;
    m_fitted = {};
    std::vector<const FactoredWeight*> fitted;
    for (const FactoredWeight& weight : m_factored) {
        const bool isWanted = !wanted || wanted(m_parameters[weight.u].name) || wanted(m_parameters[weight.v].name);
        if (isWanted && m_initialisation.lowRank != projects::LowRankMethod::Baseline) {
            fitted.push_back(&weight);
        }
    }
    const std::int64_t total = countOf(m_parameters);
    std::vector<const AttentionFeatures*> attentions;
    for (const AttentionFeatures& each : m_attentions) {
        if (each.fitted && (!wanted || wanted(m_parameters[each.parameter].name))) {
            attentions.push_back(&each);
        }
    }
    const double drawn = fitted.empty() && attentions.empty() ? 1 : kDrawnShare;
    std::int64_t done = 0;
    for (std::size_t i = 0; i < m_parameters.size(); ++i) {
        at::Tensor& tensor = m_parameters[i].tensor;
        if (!wanted || wanted(m_parameters[i].name)) {
            tensor.copy_(valuesOf(i));
            if (m_starts[i].factor != 1) {
                tensor.mul_(m_starts[i].factor);
            }
        }
        done += tensor.numel();
        if (watch && !watch(drawn * static_cast<double>(done) / static_cast<double>(total))) {
            return givenUp();
        }
    }
    const double factors = fitted.empty() ? 0 : attentions.empty() ? 1 : 0.5; // their fraction of the remaining work
    const auto rest = [&](double share) { return !watch || watch(drawn + (1 - drawn) * share); };
    if (!fitted.empty()) {
        RESIDUA_TRY(fitFactors(fitted, [&](double share) { return rest(factors * share); }));
    }
    return fitFeatures(attentions, [&](double share) { return rest(factors + (1 - factors) * share); });
}

Status InitPlan::fitFactors(const std::vector<const FactoredWeight*>& weights, const PreparationWatch& watch)
{
    std::vector<FactorFit> fits;
    for (const FactoredWeight* const weight : weights) {
        std::optional<FactorFit> fit = fitOf(*weight, wholeOf(*weight), m_fits.inputs.momentsOf(weight->name));
        if (fit) {
            fits.push_back(*std::move(fit));
        }
    }
    m_fitted = RESIDUA_TRY(fitAll(fits, m_initialisation.lowRank, m_fits.cache, watch));
    return Done{};
}

Status InitPlan::fitFeatures(const std::vector<const AttentionFeatures*>& attentions, const PreparationWatch& watch)
{
    auto fits = mapped(attentions, [&](const AttentionFeatures* const each) { return fitOf(*each); });
    if (fits.empty()) {
        return Done{};
    }
    const std::vector<std::string> notes = RESIDUA_TRY(fitAll(std::move(fits), m_fits.cache, watch));
    m_fitted.notes.insert(m_fitted.notes.end(), notes.begin(), notes.end());
    return Done{};
}

FeatureFit InitPlan::fitOf(const AttentionFeatures& attention) const
{
    const NamedParameter& features = m_parameters[attention.parameter];
    return featureFit(attention, features.name, features.tensor, m_fits.inputs, m_seed);
}

at::Tensor InitPlan::wholeOf(const FactoredWeight& weight) const
{
    return valuesOf(weight.name, weight.shape, weight.start) * weight.start.factor;
}

std::optional<FactorFit> InitPlan::fitOf(const FactoredWeight& weight, const at::Tensor& whole,
                                         const at::Tensor& inputMoments)
{
    const at::NoGradGuard noGrad;
    if (!whole.any().item<bool>()) {
        m_parameters[weight.u].tensor.zero_();
        return std::nullopt;
    }
    const bool bySide = weight.unfolding == Unfolding::BySide;
    return FactorFit{.name = weight.name,
                     .u = m_parameters[weight.u].tensor,
                     .v = m_parameters[weight.v].tensor,
                     .whole = unfolded(whole.to(at::kDouble), weight.unfolding),
                     .inputMoments = bySide ? at::Tensor() : inputMoments,
                     .follows = weight.start.follows,
                     .seed = streamKey(m_seed, weight.name),
                     .epochs = m_initialisation.lowRankEpochs,
                     .kernel = bySide ? weight.shape[2] : 1};
}

at::Tensor InitPlan::valuesOf(std::size_t index) const
{
    return valuesOf(m_parameters[index].name, m_parameters[index].tensor.sizes(), m_starts[index]);
}

at::Tensor InitPlan::valuesOf(const std::string& name, at::IntArrayRef shape, const ParameterStart& start) const
{
    const Philox random(streamKey(m_seed, name));
    switch (start.role) {
    case Role::Gain:
        return at::ones({}, at::kDouble);
    case Role::Bias:
        return at::zeros({}, at::kDouble);
    case Role::Given:
        return start.values;
    case Role::Drawn:
        return drawNormal(shape, random) * start.deviation;
    case Role::Features:
        return orthogonalFeatures(shape, random);
    case Role::Table:
        return drawNormal(shape, random) *
               (m_initialisation.law == InitLaw::Normal ? m_initialisation.scale : kTableScale);
    case Role::Matrix:
    case Role::ResidualMatrix:
        break;
    }
    if (start.deviation > 0) {
        return drawNormal(shape, random) * start.deviation;
    }
    at::Tensor matrix = drawMatrix(shape, m_initialisation, random);
    if (start.role == Role::ResidualMatrix && m_initialisation.scaleResidualByDepth) {
        matrix = matrix / std::sqrt(2.0 * static_cast<double>(start.stack.depth));
    }
    const double factor = start.stack.residualFactor;
    return start.role == Role::ResidualMatrix && factor != 1 ? matrix * factor : matrix;
}

} // namespace residua::engine
