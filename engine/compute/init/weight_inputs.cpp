// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/init/weight_inputs.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/mm.h>

#include <algorithm>

namespace residua::engine {

void WeightInputs::add(const at::Tensor& parameter, const at::Tensor& x)
{
    const at::NoGradGuard noGrad;
    const at::Tensor rows = x.reshape({-1, x.size(-1)}).to(at::kDouble);
    Sum& sum = m_sums[parameter.unsafeGetTensorImpl()];
    const at::Tensor products = at::mm(rows.t(), rows);
    sum.products = sum.products.defined() ? sum.products + products : products;
    sum.rows += rows.size(0);
}

void WeightInputs::addSequences(const std::string& node, const at::Tensor& forQueries, const at::Tensor& forKeys)
{
    const at::NoGradGuard noGrad;
    const std::int64_t length = std::min(m_length, forKeys.size(1));
    const std::int64_t pieces = forKeys.size(1) / length;
    const auto cut = [&](const at::Tensor& x) {
        const at::Tensor all = x.detach().narrow(1, 0, pieces * length).reshape({-1, length, x.size(2)});
        return all.narrow(0, 0, std::min(kFitSequences, all.size(0))).clone();
    };
    if (length > 0 && !m_sequences.contains(node)) {
        m_sequences[node] = {cut(forQueries), cut(forKeys)};
    }
}

at::Tensor WeightInputs::momentsOf(const at::Tensor& parameter) const
{
    const auto found = m_sums.find(parameter.unsafeGetTensorImpl());
    return found == m_sums.end() ? at::Tensor()
                                 : (found->second.products / static_cast<double>(found->second.rows)).to(at::kCPU);
}

FitInputs WeightInputs::of(const std::vector<NamedParameter>& parameters) const
{
    FitInputs inputs{.attentions = m_sequences, .length = m_length};
    for (const NamedParameter& parameter : parameters) {
        if (const at::Tensor moments = momentsOf(parameter.tensor); moments.defined()) {
            inputs.moments.emplace(parameter.name, moments);
        }
    }
    return inputs;
}

} // namespace residua::engine
