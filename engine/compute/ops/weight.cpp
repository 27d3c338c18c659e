// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/ops/weight.h"

#include "engine/compute/ops/part_selection.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/sum.h>

namespace residua::engine {

Weight rowsAt(const Weight& weight, std::int64_t count, std::span<const std::size_t> parts)
{
    return weight.factored() ? Weight{{}, atParts(weight.u, 0, count, parts), weight.v}
                             : Weight{atParts(weight.whole, 0, count, parts), {}, {}};
}

Weight columnsAt(const Weight& weight, std::int64_t count, std::span<const std::size_t> parts)
{
    return weight.factored() ? Weight{{}, weight.u, atParts(weight.v, 1, count, parts)}
                             : Weight{atParts(weight.whole, 1, count, parts), {}, {}};
}

at::Tensor linear(const Compute& compute, const at::Tensor& x, const Weight& weight, const at::Tensor& bias)
{
    return weight.factored() ? linear(compute, linear(compute, x, weight.v), weight.u, bias)
                             : linear(compute, x, weight.whole, bias);
}

at::Tensor squaredNorm(const Weight& factors)
{
    const at::Tensor v = factors.v.flatten(1);
    return at::sum(at::mm(factors.u.t(), factors.u) * at::mm(v, v.t()));
}

} // namespace residua::engine
