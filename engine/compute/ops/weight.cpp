// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/ops/weight.h"

#include "engine/compute/ops/part_selection.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/sum.h>

namespace residua::engine {

Weight rowsAt(const Weight& weight, std::int64_t count, std::span<const std::size_t> parts)
{
    Weight rows = weight;
    for (at::Tensor* const each : {&rows.whole, &rows.u, &rows.addedU}) {
        *each = each->defined() ? atParts(*each, 0, count, parts) : at::Tensor();
    }
    return rows;
}

Weight columnsAt(const Weight& weight, std::int64_t count, std::span<const std::size_t> parts)
{
    Weight columns = weight;
    for (at::Tensor* const each : {&columns.whole, &columns.v, &columns.addedV}) {
        *each = each->defined() ? atParts(*each, 1, count, parts) : at::Tensor();
    }
    return columns;
}

at::Tensor linear(const Compute& compute, const at::Tensor& x, const Weight& weight, const at::Tensor& bias)
{
    const at::Tensor y = weight.factored() ? linear(compute, linear(compute, x, weight.v), weight.u, bias)
                                           : linear(compute, x, weight.whole, bias);
    return weight.addedU.defined() ? y + linear(compute, linear(compute, x, weight.addedV), weight.addedU) : y;
}

at::Tensor squaredNorm(const Weight& factors)
{
    const at::Tensor v = factors.v.flatten(1);
    return at::sum(at::mm(factors.u.t(), factors.u) * at::mm(v, v.t()));
}

} // namespace residua::engine
