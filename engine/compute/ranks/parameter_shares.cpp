// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/ranks/parameter_shares.h"

#include "engine/compute/ops/joined_linear.h"
#include "engine/compute/ranks/tensor_exchange.h"
#include "projects/base/mapped.h"
#include "projects/model/parameter_name.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace residua::engine {
namespace {

/// Parameters that have one owner.
struct Unit {
    std::int64_t elements = 0;
    std::vector<std::size_t> parameters;
};

std::vector<Unit> unitsOf(const std::vector<NamedParameter>& parameters, ParameterShares::Together together)
{
    std::map<std::string, Unit> units;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const std::string& whole = parameters[i].name;
        const std::string_view own = projects::withoutTower(whole);
        const projects::ParameterName name = projects::parameterNameFrom(own);
        const bool hasSiblings = together == ParameterShares::Together::Siblings && name.layer > 0;
        const std::string tower = whole.substr(0, whole.size() - own.size());
        Unit& unit = units[hasSiblings ? tower + "layers." + std::string(name.rest) : whole];
        unit.elements += parameters[i].tensor.numel();
        unit.parameters.push_back(i);
    }
    std::vector<Unit> ordered;
    for (auto& [name, unit] : units) {
        ordered.push_back(std::move(unit));
    }
    std::ranges::stable_sort(ordered, std::ranges::greater(), &Unit::elements);
    return ordered;
}

} // namespace

ParameterShares::ParameterShares(Ranks& ranks, std::vector<NamedParameter>& parameters, Together together,
                                 std::shared_ptr<RoundedWeights> copies)
    : m_ranks(ranks), m_parameters(parameters), m_owners(parameters.size()), m_copies(std::move(copies))
{
    std::vector<std::int64_t> elements(static_cast<std::size_t>(ranks.count()));
    for (const Unit& unit : unitsOf(parameters, together)) {
        const auto least = std::ranges::min_element(elements);
        *least += unit.elements;
        for (const std::size_t i : unit.parameters) {
            m_owners[i] = static_cast<int>(least - elements.begin());
        }
    }
}

void ParameterShares::noteReads(const at::Tensor& loss)
{
    if (!m_copies) {
        return;
    }
    std::vector<const torch::autograd::Node*> open{loss.grad_fn().get()};
    std::unordered_set<const torch::autograd::Node*> seen;
    while (!open.empty()) {
        const torch::autograd::Node* const node = open.back();
        open.pop_back();
        if (node == nullptr || !seen.insert(node).second) {
            continue;
        }
        const bool ofCopy = readsCopies(*node);
        for (const torch::autograd::Edge& edge : node->next_edges()) {
            const auto* const leaf = dynamic_cast<const torch::autograd::AccumulateGrad*>(edge.function.get());
            if (leaf == nullptr) {
                open.push_back(edge.function.get());
                continue;
            }
            bool& onlyCopy = m_readAsCopy.try_emplace(leaf->variable.unsafeGetTensorImpl(), ofCopy).first->second;
            onlyCopy = onlyCopy && ofCopy;
        }
    }
}

void ParameterShares::exchangeValues()
{
    std::vector<SharedTensor> values;
    std::vector<std::size_t> rounded;
    for (std::size_t i = 0; i < m_parameters.size(); ++i) {
        const at::Tensor& tensor = m_parameters[i].tensor;
        if (!tensor.grad().defined()) {
            continue;
        }
        const auto read = m_readAsCopy.find(tensor.unsafeGetTensorImpl());
        const bool asCopy = read != m_readAsCopy.end() && read->second;
        values.push_back({asCopy ? m_copies->of(tensor) : tensor.detach(), m_owners[i]});
        if (asCopy) {
            rounded.push_back(i);
        }
    }
    exchange(std::move(values));
    for (const std::size_t i : rounded) {
        if (!isOwn(i)) {
            m_copies->takeCopy(m_parameters[i].tensor);
        }
    }
    std::ranges::set_union(std::exchange(m_rounded, {}), rounded, std::back_inserter(m_rounded));
}

void ParameterShares::completeValues()
{
    auto values = mapped(std::exchange(m_rounded, {}), [&](const std::size_t i) {
        return SharedTensor{m_parameters[i].tensor.detach(), m_owners[i]};
    });
    exchange(std::move(values));
}

void ParameterShares::exchange(std::vector<SharedTensor> values)
{
    if (values.empty()) {
        return;
    }
    const std::vector<SharedTensor> exchanged = values;
    m_ranks.exchange(m_parameters.front().tensor.device()).share(std::move(values));
    m_ranks.finish();
    for (const SharedTensor& value : exchanged) {
        if (value.root != m_ranks.rank()) {
            noteWrite(value.values);
        }
    }
}

at::Tensor ParameterShares::collect(const at::Tensor& state, std::size_t parameter)
{
    const at::Device device = m_parameters[parameter].tensor.device();
    at::Tensor values = state;
    if (!isOwn(parameter)) {
        values = at::empty(state.sizes(), state.options().device(state.is_meta() ? device : state.device()));
    }
    m_ranks.exchange(device).share(values, m_owners[parameter]);
    m_ranks.finish();
    return values;
}

} // namespace residua::engine
