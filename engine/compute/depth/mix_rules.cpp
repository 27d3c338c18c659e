// SPDX-License-Identifier: GPL-3.0-or-later
// The rules of a DepthMix: learned shortcuts beside the running sum, and mixes on the stack.
#include "engine/compute/depth/depth_weights.h"

#include "engine/base/api/matrix_name.h"
#include "engine/compute/depth/depth_rule.h"
#include "engine/compute/ops/part_selection.h"
#include "engine/runs/store/run_files.h"
#include "projects/depth/shared_mix.h"
#include "projects/model/parameter_name.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/log.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/rsub.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <limits>

namespace residua::engine {

using projects::DepthMix;
using projects::DepthReader;
using projects::DepthStep;
using projects::DepthTerm;
using projects::NormaliseOver;
using projects::Shortcut;
using projects::ShortcutState;
using projects::WeightKind;

namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

/// Excludes the frozen coefficients of a mix from training. Returns true for them, [learned terms]; undefined if none
/// is frozen. Precondition: the parameter `coefficient` of the mix is declared.
at::Tensor holdFrozen(const DepthMix& mix, const projects::DepthPlan& depth, const at::Tensor& coefficient,
                      InitPlan& plan)
{
    const std::vector<projects::HeldTerm> held = projects::heldTerms(mix, depth);
    if (held.empty()) {
        return {};
    }
    std::vector<std::int64_t> frozen(static_cast<std::size_t>(coefficient.size(0)), 0);
    for (const projects::HeldTerm& term : held) {
        frozen[term.place] = 1;
    }
    at::Tensor mask = at::tensor(frozen, at::kLong).to(coefficient.device(), at::kBool);
    mask = coefficient.dim() == 2 ? mask.unsqueeze(1) : mask;
    plan.hold(projects::kTopologyCoefficient, mask);
    return mask;
}

/// Returns the coefficients without gradients for the frozen ones.
at::Tensor detached(const at::Tensor& coefficient, const at::Tensor& frozen)
{
    return frozen.defined() ? at::where(frozen, coefficient.detach(), coefficient) : coefficient;
}

/// With a learned shortcut i:j of weight w, layer j (or the final output) reads the sum plus (w − 1)·e_i.
class SumRule final : public DepthRule {
public:
    SumRule(const DepthMix& mix, std::int64_t layers, at::Tensor weights, InitPlan& plan, at::Tensor shared)
        : m_mix(mix), m_type(plan.compute().residualType), m_weights(std::move(weights)), m_shared(std::move(shared))
    {
        if (m_weights.defined()) {
            m_depth = projects::planOf(mix, layers);
            m_frozen = holdFrozen(mix, m_depth, m_weights, plan);
        }
    }

    [[nodiscard]] std::vector<at::Tensor> mix(const DepthStep& step, const MixInputs& inputs, DepthStack*) override
    {
        auto weight = static_cast<std::int64_t>(step.firstTerm);
        at::Tensor read = inputs.base;
        const at::Tensor weights = m_weights.defined() ? byTerm() : at::Tensor();
        for (const at::Tensor& entry : inputs.values) {
            if (entry.defined()) {
                read = read + entry.to(m_type) * (weights.narrow(0, weight, 1) - 1);
            }
            ++weight;
        }
        return {read};
    }

    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t step) override
    {
        if (!m_weights.defined()) {
            return {};
        }
        const auto weights = projects::withLearned(m_mix, m_depth, {1, hostNumbers(byTerm().detach())});
        const std::vector<float> all(weights->values.begin(), weights->values.end());
        std::vector<Matrix> matrices;
        for (const char* const kind : {matrix::kMix, matrix::kCoefficient}) {
            addMatrices(matrices, kind, m_depth, all, step);
        }
        return matrices;
    }

private:
    /// Returns the weight of each learned term.
    [[nodiscard]] at::Tensor byTerm() const
    {
        return m_shared.defined() ? m_weights.index_select(0, m_shared) : detached(m_weights, m_frozen);
    }

    const DepthMix m_mix;
    const at::ScalarType m_type;
    projects::DepthPlan m_depth; ///< empty without learned shortcuts
    at::Tensor m_weights;        ///< [learned terms], or [rows] of shared ones; undefined without learned shortcuts
    const at::Tensor m_shared;   ///< projects::sharedRows(); undefined if visits share no weights
    at::Tensor m_frozen;         ///< [learned terms]; undefined without frozen shortcuts
};

/// Fixed and learned weights, scalar or per feature, normalised or not, with or without the gate of GRN-v3.
class CoefficientWeights final : public DepthWeights {
public:
    CoefficientWeights(const DepthMix& mix, std::int64_t layers, const WiringTensors& tensors, InitPlan& plan,
                       const at::Tensor& shared)
        : DepthWeights(mix, layers, shared), m_perFeature(traitsOf(mix.weight).isPerFeature), m_gate(tensors["gate"])
    {
        std::int64_t vectors = 0;
        for (const DepthReader& reader : m_depth.readers) {
            m_rows = std::max(m_rows, reader.target);
            m_outputs = std::max<std::int64_t>(m_outputs, reader.outputs);
            m_blocks.push_back(reader.terms());
            m_parts.push_back(partsOf(reader));
            m_firstVector.push_back(vectors);
            vectors += gatesEntries() ? reader.terms() : reader.outputs;
        }
        setCoefficient(tensors["coefficient"], plan.compute());
        makeMasks(plan);
    }

    void begin(const Pass& pass) override
    {
        m_applied = applied();
        if (pass.alteration && pass.alteration->renormalises) {
            renormalise(pass.alteration->factors);
        }
        m_weights.clear();
        for (const at::Tensor& block : m_applied.split_with_sizes(m_blocks)) {
            const DepthReader& reader = m_depth.readers[m_weights.size()];
            std::vector<std::int64_t> shape{reader.outputs, static_cast<std::int64_t>(reader.sources.size())};
            if (m_perFeature) {
                shape.push_back(m_applied.size(1));
            }
            m_weights.push_back(block.view(shape));
        }
    }

    [[nodiscard]] std::vector<WeighedSources> of(std::size_t index, const MixInputs& inputs, const DepthStack&) override
    {
        std::vector<WeighedSources> parts;
        for (const Part& part : m_parts[index]) {
            WeighedSources weighed;
            std::vector<std::size_t> places;
            for (std::size_t i = 0; i < inputs.places.size(); ++i) {
                if (std::ranges::binary_search(part.places, inputs.places[i])) {
                    places.push_back(inputs.places[i]);
                    weighed.sources.push_back(inputs.entries[i]);
                }
            }
            if (places.empty()) {
                continue;
            }
            weighed.weights = weightsOf(index, part);
            weighed.weights.weights = atPlaces(weighed.weights.weights, 1, places).contiguous();
            parts.push_back(std::move(weighed));
        }
        return parts;
    }

    [[nodiscard]] std::vector<Regulariser> regularisers() const override
    {
        if (m_mix.tsallis.weight == 0) {
            return {};
        }
        return {{[this](const Pass&) { return tsallisEntropy(); }}};
    }

    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t step) override;

private:
    /// Sources of one reader that use the same kind of weight.
    struct Part {
        std::vector<std::size_t> places; ///< indices among the reader's sources, ascending
        bool gated = false;
    };

    [[nodiscard]] bool gatesEntries() const { return m_mix.gate.vectors == projects::GateVectors::PerEntry; }

    /// Returns the reader's parts: one, preceded under a gate by one of the frozen entries, which are not gated.
    /// Entries with gate vectors of their own are a part each.
    [[nodiscard]] std::vector<Part> partsOf(const DepthReader& reader) const
    {
        const bool hasGate = m_mix.gate.kind != projects::GateKind::None;
        std::vector<Part> parts;
        for (const bool gated : {false, true}) {
            std::vector<std::size_t> places;
            for (std::size_t place = 0; place < reader.sources.size(); ++place) {
                const bool frozen = hasState(m_mix, {reader.sources[place], reader.target}, ShortcutState::Frozen);
                if ((hasGate && !frozen) == gated) {
                    places.push_back(place);
                }
            }
            const std::size_t each = gated && gatesEntries() ? 1 : places.size();
            for (auto first = places.begin(); first != places.end(); first += static_cast<std::ptrdiff_t>(each)) {
                parts.push_back({{first, first + static_cast<std::ptrdiff_t>(each)}, gated});
            }
        }
        return parts;
    }

    /// Returns the weights of one part. Entries without a gate have the weight of a closed gate: b, or ReLU(b) for a
    /// gate inside.
    [[nodiscard]] MixWeights weightsOf(std::size_t index, const Part& part) const
    {
        const bool inside = m_mix.gate.kind == projects::GateKind::Inside;
        MixWeights result;
        result.weightKind = m_perFeature ? kernels::WeightKind::perFeature : kernels::WeightKind::scalar;
        result.weights = inside && !part.gated ? m_weights[index].clamp_min(0) : m_weights[index];
        if (part.gated) {
            result.gateKind = inside ? kernels::GateKind::reluInside : kernels::GateKind::reluOutside;
            const bool raw = m_mix.gate.input == projects::GateInput::Raw;
            result.gateInput = raw ? kernels::GateInput::raw : kernels::GateInput::normalised;
            const bool one = m_mix.gate.reluGradAtZero == projects::ReluGradAtZero::One;
            result.reluGradAtZero = one ? kernels::ReluGradAtZero::one : kernels::ReluGradAtZero::zero;
            result.gateVectors = gateVectorsOf(index, part);
        }
        return result;
    }

    /// Returns [outputs, d].
    [[nodiscard]] at::Tensor gateVectorsOf(std::size_t index, const Part& part) const
    {
        const DepthReader& reader = m_depth.readers[index];
        if (!gatesEntries()) {
            return m_gate.narrow(0, m_firstVector[index], reader.outputs);
        }
        const at::Tensor all = m_gate.narrow(0, m_firstVector[index], reader.terms());
        return all.view({reader.outputs, -1, all.size(1)})
            .select(1, static_cast<std::int64_t>(part.places.front()))
            .contiguous();
    }

    /// Returns the Tsallis entropy of the weights that the last pass applied, times the document's factor.
    [[nodiscard]] at::Tensor tsallisEntropy() const
    {
        const auto& [q, weight] = m_mix.tsallis;
        // S_q = (1 − Σ p^q)/(q − 1) of each row; q → 1 is Shannon's −Σ p ln p.
        if (q == 1) {
            const at::Tensor p = m_applied.clamp_min(std::numeric_limits<float>::min());
            return at::sum(p * at::log(p)) * -weight;
        }
        const auto rows =
            std::ranges::count_if(m_depth.readers, [](const DepthReader& r) { return !r.sources.empty(); });
        return at::rsub(at::sum(at::pow(m_applied, q)), static_cast<double>(rows)) * (weight / (q - 1));
    }

    void setCoefficient(const at::Tensor& trained, const Compute& compute)
    {
        if (m_mix.weight != WeightKind::Fixed) {
            m_coefficient = trained;
            return;
        }
        m_coefficient = at::tensor(m_depth.start, at::kDouble).to(compute.device, compute.parameterType);
        m_learned = trained;
        const std::vector<std::size_t> terms = projects::learnedTerms(m_mix, m_depth);
        m_learnedTerms =
            at::tensor(std::vector<std::int64_t>(terms.begin(), terms.end()), at::kLong).to(compute.device);
    }

    void makeMasks(InitPlan& plan)
    {
        const Compute& compute = plan.compute();
        std::vector<std::int64_t> cells;
        for (const DepthTerm& term : m_depth.terms) {
            const std::int64_t target = m_depth.readers[term.reader].target;
            cells.push_back((term.output * m_rows + target - 1) * m_rows + term.source);
        }
        m_cells = at::tensor(cells, at::kLong).to(compute.device);
        if (const at::Tensor own = m_learned.defined() ? m_learned : m_coefficient;
            m_learned.defined() || m_mix.weight != WeightKind::Fixed) {
            m_frozen = holdFrozen(m_mix, m_depth, own, plan);
        }
    }

    /// Returns one row per term.
    [[nodiscard]] at::Tensor coefficient() const
    {
        return m_learned.defined()
                   ? m_coefficient.index_copy(0, m_learnedTerms, byReader(detached(m_learned, m_frozen)))
                   : byReader(detached(m_coefficient, m_frozen));
    }

    /// Returns the applied weights, one row per term: p under a softmax.
    [[nodiscard]] at::Tensor applied() const
    {
        const at::Tensor c = coefficient();
        if (m_mix.normalise == NormaliseOver::None) {
            return c;
        }
        // Places the weights on a grid [outputs, targets, sources(, d)] with −∞ where there is no shortcut, so that the
        // softmax runs over its rows or columns.
        std::vector<std::int64_t> flat{m_outputs * m_rows * m_rows};
        std::vector<std::int64_t> grid{m_outputs, m_rows, m_rows};
        if (m_perFeature) {
            flat.push_back(c.size(1));
            grid.push_back(c.size(1));
        }
        const at::Tensor cells =
            at::full(flat, kMinusInfinity, c.options()).index_copy(0, m_cells, c / m_mix.temperature);
        const std::int64_t dimension = m_mix.normalise == NormaliseOver::Sources ? 2 : 1;
        return at::softmax(cells.view(grid), dimension).view(flat).index_select(0, m_cells);
    }

    /// Multiplies applied weights by factors, and divides those of one softmax by their new sum.
    void renormalise(const std::map<std::size_t, double>& factors)
    {
        std::vector<std::int64_t> groups(m_depth.terms.size());
        const std::vector<std::vector<std::size_t>> together = projects::normalisedTogether(m_mix, m_depth);
        for (std::size_t group = 0; group < together.size(); ++group) {
            for (const std::size_t term : together[group]) {
                groups[term] = static_cast<std::int64_t>(group);
            }
        }
        std::vector<double> all(m_depth.terms.size(), 1);
        for (const auto& [term, factor] : factors) {
            all.at(term) = factor;
        }
        const at::Tensor of = at::tensor(all, at::kDouble).to(m_applied.options());
        const at::Tensor weights = m_applied * (m_perFeature ? of.unsqueeze(1) : of);
        const at::Tensor at = at::tensor(groups, at::kLong).to(m_applied.device());
        std::vector<std::int64_t> shape = m_applied.sizes().vec();
        shape.front() = std::ssize(together);
        const at::Tensor sums = at::zeros(shape, m_applied.options()).index_add(0, at, weights);
        m_applied = weights / sums.index_select(0, at).clamp_min(std::numeric_limits<float>::min());
    }

    const bool m_perFeature;
    std::int64_t m_rows = 0; ///< the highest target, which is not below the number of sources
    std::int64_t m_outputs = 1;
    std::vector<std::int64_t> m_blocks;      ///< terms of each reader
    std::vector<std::int64_t> m_firstVector; ///< of each reader in m_gate
    std::vector<std::vector<Part>> m_parts;  ///< of each reader
    at::Tensor m_coefficient;                ///< [terms] or [terms, d]; of shared weights their rows
    at::Tensor m_learned; ///< [learned terms] or shared rows of them, replacing fixed ones; undefined without learned
                          ///< shortcuts
    at::Tensor m_learnedTerms; ///< the indices of the learned terms
    at::Tensor m_gate;         ///< [mixes, d], or [terms, d] with a vector for each entry
    at::Tensor m_cells;        ///< the index of each term in the flattened grid
    at::Tensor m_frozen;       ///< [learned terms(, 1)]; undefined without frozen ones
    at::Tensor m_applied;
    std::vector<at::Tensor> m_weights;
};

std::vector<Matrix> CoefficientWeights::coefficients(std::int64_t step)
{
    if (m_mix.weight == WeightKind::Fixed && !m_learned.defined()) {
        return {};
    }
    const at::NoGradGuard noGrad;
    const at::Tensor p = applied();
    std::vector<at::Tensor> kinds{p, coefficient()};
    if (m_perFeature) {
        kinds = {p.mean(1), byReader(m_coefficient).mean(1), p.std(1, /*unbiased=*/false)};
    }
    const at::Tensor all = at::cat(kinds).to(at::kCPU, at::kFloat);
    const float* values = all.const_data_ptr<float>();
    std::vector<Matrix> result;
    static constexpr const char* kNames[] = {matrix::kMix, matrix::kCoefficient, matrix::kSpread};
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        addMatrices(result, kNames[kind], m_depth, {values, m_depth.terms.size()}, step);
        values += m_depth.terms.size();
    }
    return result;
}

} // namespace

std::vector<at::Tensor> DepthWeights::mix(const DepthStep& step, const MixInputs& inputs, DepthStack* stack)
{
    std::vector<at::Tensor> mixes;
    if (inputs.base.defined()) {
        mixes.push_back(inputs.base);
    }
    if (!inputs.places.empty()) {
        for (const WeighedSources& part : of(step.row, inputs, *stack)) {
            mixes = stack->mix(part.sources, part.weights, static_cast<int>(step.outputs), mixes, inputs.factors);
        }
    }
    if (mixes.empty()) {
        mixes.assign(step.outputs, at::zeros_like(stack->entry(0)));
    }
    return mixes;
}

DepthRuleResult makeRule(const DepthMix& mix, LayerStack& layers, std::int64_t /*width*/, InitPlan& plan)
{
    const projects::Stack& stack = layers.stack();
    const std::int64_t count = stack.depth();
    const WiringTensors tensors(projects::wiringParametersOf(stack), plan);
    at::Tensor shared;
    if (const std::vector<std::int64_t> rows =
            projects::sharesMix(stack) ? projects::sharedRows(stack) : std::vector<std::int64_t>();
        !rows.empty()) {
        shared = at::tensor(rows, at::kLong).to(plan.compute().device);
    }
    if (projects::isRunningSum(mix)) {
        return std::unique_ptr<DepthRule>(std::make_unique<SumRule>(mix, count, tensors["coefficient"], plan, shared));
    }
    if (traitsOf(mix.weight).isPerToken) {
        return makeTokenWeights(mix, count, tensors, plan.compute(), shared);
    }
    return std::unique_ptr<DepthRule>(std::make_unique<CoefficientWeights>(mix, count, tensors, plan, shared));
}

} // namespace residua::engine
