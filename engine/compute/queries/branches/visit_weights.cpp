// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/queries/branches/visit_weights.h"

#include "engine/compute/train/tensor_io.h"
#include "projects/transfer/ties.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/linalg_svd.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace residua::engine {
namespace {

Error inFactors(const std::string& weight, const char* what)
{
    return {"layers", weight + " is in factors, " + what + "; expected a run with full weights in its loops"};
}

} // namespace

/// Returns the old visit that becomes this one of the new network.
projects::LayerVisit VisitWeights::oldAt(const projects::LayerVisit& at) const
{
    return m_before.visitAt(m_sources.layers.at(static_cast<std::size_t>(m_after.numberOf(at) - 1)));
}

/// Returns the old weight of a layer at a visit in double, with what the visit adds; undefined if it is not stored.
Result<at::Tensor> VisitWeights::weightAt(projects::ParameterName name, const projects::LayerVisit& at) const
{
    name.layer = at.layer;
    const std::string text = textOf(name);
    if (!m_stored.tensors().contains(text)) {
        return at::Tensor();
    }
    const Result<at::Tensor> weight = readTensor(m_stored, text);
    const std::string u = projects::adapterOf(text, at.visit, projects::kAdapterU);
    if (!weight || !m_stored.tensors().contains(u)) {
        return weight ? Result<at::Tensor>(weight->to(at::kDouble)) : weight;
    }
    const Result<at::Tensor> left = readTensor(m_stored, u);
    const Result<at::Tensor> right = readTensor(m_stored, projects::adapterOf(text, at.visit, projects::kAdapterV));
    if (!left || !right) {
        return left ? right.error() : left.error();
    }
    return weight->to(at::kDouble) + at::mm(left->to(at::kDouble), right->to(at::kDouble));
}

/// Moments are carried only if as many visits as before use the weights.
Status VisitWeights::takeLayers(Transfer& row, projects::ParameterName name) const
{
    const std::int64_t layer = name.layer;
    const std::vector<std::int64_t> from = m_sources.made.empty()
                                               ? projects::storedSources(m_before, m_after, m_sources.layers, layer)
                                               : m_sources.made.at(static_cast<std::size_t>(layer - 1));
    const auto nameIn = [&name](std::int64_t source) {
        name.layer = source;
        return textOf(name);
    };
    const bool asBefore = m_after.visitsOf(layer).size() == m_before.visitsOf(from.front()).size();
    row.tensor.name = nameIn(from.front());
    row.moments = asBefore && from.size() == 1 ? Moments::Carried : Moments::Fresh;
    if (from.size() == 1 || !m_stored.tensors().contains(row.tensor.name)) {
        return Done{};
    }
    at::Tensor sum;
    for (const std::int64_t source : from) {
        const at::Tensor values = RESIDUA_TRY(readTensor(m_stored, nameIn(source)));
        sum = sum.defined() ? sum + values.to(at::kDouble) : values.to(at::kDouble);
    }
    row.computed = sum / static_cast<double>(from.size());
    return Done{};
}

/// Adds what the old visit added, if it is a layer without such products now.
Status VisitWeights::merge(Transfer& row, const projects::ParameterName& name) const
{
    const projects::LayerVisit from = oldAt({name.layer, 1});
    if (projects::adaptersAt(m_before, from).rank == 0 || projects::adaptersAt(m_after, {name.layer, 1}).rank > 0) {
        return Done{};
    }
    projects::ParameterName old = name;
    old.layer = from.layer;
    const std::string text = textOf(old);
    const std::string_view last = projects::lastOf(text);
    if (last == "u" || last == "v") {
        return inFactors(text, "to which a visit's product is not added");
    }
    const at::Tensor merged = RESIDUA_TRY(last == "weight" ? weightAt(name, from) : at::Tensor());
    row.computed = merged.defined() ? merged : row.computed;
    return Done{};
}

/// Fills m_factors.
Status VisitWeights::factorise(const projects::AdapterName& adapter)
{
    if (m_factors.weight == adapter.weight && m_factors.visit == adapter.visit) {
        return Done{};
    }
    if (m_watch && !m_watch(0)) {
        return queryGivenUp();
    }
    const projects::ParameterName name = projects::parameterNameFrom(adapter.weight);
    Transfer row;
    const Status taken = takeLayers(row, name);
    const Result<at::Tensor> old = weightAt(name, oldAt({name.layer, adapter.visit}));
    if (!taken || !old) {
        return taken ? old.error() : taken.error();
    }
    if (!old->defined()) {
        return inFactors(adapter.weight, "to whose differences no products are fitted");
    }
    const at::Tensor tied =
        RESIDUA_TRY(row.computed.defined() ? Result<at::Tensor>(row.computed) : readTensor(m_stored, row.tensor.name));
    const auto [u, s, vt] = at::linalg_svd(*old - tied.to(at::kDouble), /*full_matrices=*/false);
    m_factors = {adapter.weight, adapter.visit, u * s, vt};
    return Done{};
}

/// A rank above the number of singular values is filled up with zeros.
Status VisitWeights::approximate(Transfer& row, const projects::AdapterName& adapter, at::IntArrayRef shape)
{
    RESIDUA_TRY(factorise(adapter));
    const at::Tensor& all = adapter.isU ? m_factors.u : m_factors.v;
    const std::int64_t dimension = adapter.isU ? 1 : 0;
    const std::int64_t kept = std::min(shape[static_cast<std::size_t>(dimension)], all.size(dimension));
    row.tensor.name = adapter.weight;
    row.moments = Moments::Fresh;
    row.computed = at::zeros(shape, all.options());
    row.computed.narrow(dimension, 0, kept).copy_(all.narrow(dimension, 0, kept));
    return Done{};
}

Status VisitWeights::take(Transfer& row, const projects::ParameterName& name, at::IntArrayRef shape)
{
    const auto adapter = projects::adapterFrom(textOf(name));
    if (adapter && projects::adaptersAt(m_before, oldAt({name.layer, adapter->visit})).rank == 0) {
        return approximate(row, *adapter, shape);
    }
    const Status taken = takeLayers(row, name);
    return taken ? merge(row, name) : taken;
}

} // namespace residua::engine
