// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/graph/weight_inputs.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/mm.h>

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

at::Tensor WeightInputs::momentsOf(const at::Tensor& parameter) const
{
    const auto found = m_sums.find(parameter.unsafeGetTensorImpl());
    return found == m_sums.end() ? at::Tensor()
                                 : (found->second.products / static_cast<double>(found->second.rows)).to(at::kCPU);
}

} // namespace residua::engine
