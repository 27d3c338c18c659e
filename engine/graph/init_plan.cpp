// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/graph/init_plan.h"

#include "engine/runtime/philox.h"

#include <ATen/Parallel.h>
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
#include <utility>

namespace residua::engine {
namespace {

using projects::InitLaw;

constexpr double kTableScale = 0.02;
constexpr double kDrawnShare = 0.05; ///< of the work, where weights are fitted besides
constexpr std::int64_t kGrain = 4096;

/// Fills in fours from the counters 0, 1, …; `make` turns four words into four numbers.
template <class Make>
at::Tensor fill(at::IntArrayRef shape, const Philox& random, const Make& make)
{
    at::Tensor result = at::empty(shape, at::kDouble);
    double* const values = result.mutable_data_ptr<double>();
    const std::int64_t count = result.numel();
    at::parallel_for(0, (count + 3) / 4, kGrain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            double four[4];
            make(random.at(static_cast<std::uint64_t>(i)), four);
            for (std::int64_t k = 0; k < 4 && 4 * i + k < count; ++k) {
                values[4 * i + k] = four[k];
            }
        }
    });
    return result;
}

/// Standard normal, by Box and Muller.
at::Tensor normal(at::IntArrayRef shape, const Philox& random)
{
    return fill(shape, random, [](const std::array<std::uint32_t, 4>& bits, double* out) {
        for (std::size_t pair = 0; pair < 2; ++pair) {
            const double radius = std::sqrt(-2.0 * std::log(uniformInside(bits[2 * pair])));
            const double angle = 2.0 * std::numbers::pi * uniformInside(bits[2 * pair + 1]);
            out[2 * pair] = radius * std::cos(angle);
            out[2 * pair + 1] = radius * std::sin(angle);
        }
    });
}

/// Uniform on (−1, 1).
at::Tensor symmetric(at::IntArrayRef shape, const Philox& random)
{
    return fill(shape, random, [](const std::array<std::uint32_t, 4>& bits, double* out) {
        for (std::size_t k = 0; k < 4; ++k) {
            out[k] = 2.0 * uniformInside(bits[k]) - 1.0;
        }
    });
}

/// Normal and cut at two of its deviations, then widened to a variance of 1.
at::Tensor truncatedNormal(at::IntArrayRef shape, const Philox& random)
{
    constexpr double kCut = 2;
    constexpr double kDeviation = 0.8796256610342398; // of the standard normal between -2 and 2
    const double mass = std::erf(kCut / std::numbers::sqrt2);
    return at::erfinv(symmetric(shape, random) * mass) * (std::numbers::sqrt2 / kDeviation);
}

/// Rows or columns, whichever are fewer, are orthonormal; uniform over such matrices.
at::Tensor orthogonal(std::int64_t rows, std::int64_t columns, const Philox& random)
{
    const bool tall = rows >= columns;
    const at::Tensor start = tall ? normal({rows, columns}, random) : normal({columns, rows}, random);
    const auto [q, r] = at::linalg_qr(start);
    const at::Tensor result = q * at::sign(r.diagonal());
    return tall ? result : result.t().contiguous();
}

/// The law on a matrix [out, in, …]; further dimensions (a kernel's) count as inputs.
at::Tensor drawMatrix(at::IntArrayRef shape, const projects::Initialisation& initialisation, const Philox& random)
{
    std::int64_t in = 1;
    for (std::size_t i = 1; i < shape.size(); ++i) {
        in *= shape[i];
    }
    const std::int64_t out = shape[0];
    switch (initialisation.law) {
    case InitLaw::Normal:
        return normal(shape, random) * initialisation.scale;
    case InitLaw::XavierUniform:
        return symmetric(shape, random) * (initialisation.scale * std::sqrt(6.0 / static_cast<double>(in + out)));
    case InitLaw::KaimingNormal:
        return normal(shape, random) * (initialisation.scale * std::sqrt(2.0 / static_cast<double>(in)));
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

InitPlan::InitPlan(const Compute& compute, const projects::Initialisation& initialisation, std::int64_t seed,
                   std::int64_t depth, double residualFactor)
    : m_compute(compute),
      m_initialisation(initialisation),
      m_seed(seed),
      m_depth(depth),
      m_residualFactor(residualFactor)
{
}

at::Tensor InitPlan::add(const std::string& name, at::IntArrayRef shape, Role role)
{
    const bool decays = role != Role::Gain && role != Role::Bias;
    return add(name, shape, {.role = role, .values = {}, .follows = {}}, decays ? Decay::Yes : Decay::No);
}

at::Tensor InitPlan::add(const std::string& name, at::IntArrayRef shape, ParameterStart start, Decay decay)
{
    TORCH_CHECK(m_names.insert(name).second, "two parameters are named ", name);
    at::Tensor tensor = at::empty(shape, at::TensorOptions(m_compute.device).dtype(m_compute.parameterType));
    tensor.requires_grad_(true);
    m_parameters.push_back({name, tensor, decay, {}, start.role == Role::ResidualMatrix});
    m_starts.push_back(std::move(start));
    return tensor;
}

Weight InitPlan::addWeight(const std::string& name, at::IntArrayRef shape, ParameterStart start,
                           std::optional<std::int64_t> rank)
{
    if (!rank) {
        return {add(name, shape, std::move(start), Decay::Yes), {}, {}};
    }
    const std::string stem = name.substr(0, name.size() - std::string("weight").size());
    FactoredWeight weight{name, shape.vec(), start, 0, 0};
    std::vector<std::int64_t> inner = shape.vec();
    inner.front() = *rank;
    weight.v = m_parameters.size();
    const at::Tensor v = add(stem + "v", inner, {.values = {}, .follows = {}}, Decay::Yes);
    weight.u = m_parameters.size();
    const at::Tensor u = add(stem + "u", {shape.front(), *rank}, std::move(start), Decay::Yes);
    m_factored.push_back(std::move(weight));
    return {{}, u, v};
}

at::Tensor InitPlan::addConstant(const std::string& name, at::IntArrayRef shape, double value, Decay decay)
{
    return add(name, shape, {.role = Role::Given, .values = at::full({}, value, at::kDouble), .follows = {}}, decay);
}

at::Tensor InitPlan::addValues(const std::string& name, const at::Tensor& values, Decay decay)
{
    return add(name, values.sizes(), {.role = Role::Given, .values = values, .follows = {}}, decay);
}

void InitPlan::hold(const std::string& name, const at::Tensor& elements)
{
    const auto parameter = std::ranges::find(m_parameters, name, &NamedParameter::name);
    TORCH_CHECK(parameter != m_parameters.end(), "there is no parameter ", name, " to hold");
    parameter->held = elements;
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
    std::int64_t total = 0;
    for (const NamedParameter& parameter : m_parameters) {
        total += parameter.tensor.numel();
    }
    const double drawn = fitted.empty() ? 1 : kDrawnShare;
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
    const auto rest = [&](double share) { return !watch || watch(drawn + (1 - drawn) * share); };
    return fitted.empty() ? Status(Done{}) : fitFactors(fitted, rest);
}

Status InitPlan::fitFactors(const std::vector<const FactoredWeight*>& weights, const PreparationWatch& watch)
{
    std::vector<FactorFit> fits;
    for (const FactoredWeight* const weight : weights) {
        const at::Tensor whole = wholeOf(*weight);
        if (!whole.any().item<bool>()) {
            m_parameters[weight->u].tensor.zero_();
            continue;
        }
        const auto moments = m_fits.inputMoments.find(weight->name);
        FactorFit fit{.name = weight->name,
                      .u = m_parameters[weight->u].tensor,
                      .v = m_parameters[weight->v].tensor,
                      .whole = whole.flatten(1),
                      .inputMoments = moments == m_fits.inputMoments.end() ? at::Tensor() : moments->second,
                      .follows = weight->start.follows,
                      .seed = streamKey(m_seed, weight->name)};
        fits.push_back(std::move(fit));
    }
    Result<FitsReport> fitted = fitAll(fits, m_initialisation.lowRank, m_fits.cache, watch);
    if (!fitted) {
        return fitted.error();
    }
    m_fitted = std::move(*fitted);
    return Done{};
}

at::Tensor InitPlan::wholeOf(const FactoredWeight& weight) const
{
    return valuesOf(weight.name, weight.shape, weight.start) * weight.start.factor;
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
    case Role::Table:
        return normal(shape, random) * (m_initialisation.law == InitLaw::Normal ? m_initialisation.scale : kTableScale);
    case Role::Matrix:
    case Role::ResidualMatrix:
        break;
    }
    if (start.deviation > 0) {
        return normal(shape, random) * start.deviation;
    }
    at::Tensor matrix = drawMatrix(shape, m_initialisation, random);
    if (start.role == Role::ResidualMatrix && m_initialisation.scaleResidualByDepth) {
        matrix = matrix / std::sqrt(2.0 * static_cast<double>(m_depth));
    }
    return start.role == Role::ResidualMatrix && m_residualFactor != 1 ? matrix * m_residualFactor : matrix;
}

} // namespace residua::engine
