// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/graph/row_layout.h"

#include "projects/nodes/example_schema.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <limits>

namespace residua::engine {

at::Tensor seenKeys(std::int64_t queries, std::int64_t keys, std::int64_t itself, std::int64_t window,
                    const at::TensorOptions& options)
{
    const at::Tensor earlier = at::ones({queries, keys}, options.dtype(at::kBool)).tril(itself);
    return window > 0 ? earlier.triu(itself - window + 1) : earlier;
}

at::Tensor scoreTermOf(const at::Tensor& hidden, const at::TensorOptions& options)
{
    const bool wide = options.dtype() == at::kDouble;
    const double lowest =
        wide ? std::numeric_limits<double>::lowest() : static_cast<double>(std::numeric_limits<float>::lowest());
    return at::zeros(hidden.sizes(), options).masked_fill(hidden, lowest / 2);
}

at::Tensor prefixBefore(const at::Tensor& targets)
{
    const at::Tensor isTarget = targets.ne(projects::kIgnoredTarget).to(at::kInt);
    return isTarget.cumsum(1).eq(0).sum(1) + 1;
}

std::shared_ptr<RowLayout> RowLayout::of(const std::map<std::string, at::Tensor>& fields)
{
    RowLayout layout;
    for (const auto& [name, member] : {std::pair(projects::kLength, &RowLayout::m_length),
                                       {projects::kPositions, &RowLayout::m_positions},
                                       {projects::kPrefix, &RowLayout::m_prefix}}) {
        if (const auto found = fields.find(name); found != fields.end()) {
            layout.*member = found->second;
            layout.m_options = found->second.options();
        }
    }
    const bool isEmpty = !layout.m_length.defined() && !layout.m_positions.defined() && !layout.m_prefix.defined();
    return isEmpty ? nullptr : std::make_shared<RowLayout>(std::move(layout));
}

at::Tensor RowLayout::rowsOf(const at::Tensor& table, std::int64_t time) const
{
    return isPacked() ? at::embedding(table, m_positions) : table.narrow(0, 0, time);
}

const std::vector<std::int64_t>& RowLayout::documents()
{
    if (m_documents.empty()) {
        const at::Tensor positions = m_positions.to(at::kCPU, at::kLong).contiguous();
        const std::int64_t* const first = positions.const_data_ptr<std::int64_t>();
        for (std::int64_t i = 0; i < positions.numel(); ++i) {
            if (first[i] == 0) {
                m_documents.push_back(0);
            }
            ++m_documents.back();
        }
    }
    return m_documents;
}

at::Tensor RowLayout::hidden(const Sight& sight, std::int64_t time) const
{
    at::Tensor hidden = at::zeros({1, 1, time, time}, m_options.dtype(at::kBool));
    if (sight.causal) {
        hidden = seenKeys(time, time, 0, sight.window, m_options).logical_not().view({1, 1, time, time});
    }
    const at::Tensor places = at::arange(time, m_options);
    if (m_prefix.defined()) {
        hidden = hidden.logical_and(places.ge(m_prefix.unsqueeze(1)).view({-1, 1, 1, time}));
    }
    if (isPacked()) {
        const at::Tensor begins = places - m_positions; // where each token's document begins in the row
        return hidden.logical_or(begins.unsqueeze(2).ne(begins.unsqueeze(1)).unsqueeze(1));
    }
    return m_length.defined() ? hidden.logical_or(places.ge(m_length.unsqueeze(1)).view({-1, 1, 1, time})) : hidden;
}

const at::Tensor& RowLayout::term(const Sight& sight, std::int64_t time, at::ScalarType type)
{
    at::Tensor& term = m_terms[{sight.causal, sight.window, time, type}];
    if (!term.defined()) {
        term = scoreTermOf(hidden(sight, time), m_options.dtype(type));
    }
    return term;
}

} // namespace residua::engine
