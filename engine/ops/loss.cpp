// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ops/loss.h"

#include "engine/runtime/fixed_bits.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <c10/util/Exception.h>

namespace residua::engine {

at::Tensor objective(projects::Objective objective, const at::Tensor& output, const at::Tensor& target)
{
    const at::ScalarType type = output.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    const at::Tensor values = output.to(type);
    if (objective == projects::Objective::NextToken) {
        return at::cross_entropy_loss(values.view({-1, values.size(-1)}), target.view({-1}));
    }
    const at::Tensor error = values - target.to(type);
    switch (objective) {
    case projects::Objective::HalfSquaredError:
        return sumOfAll(error * error) * (0.5 / static_cast<double>(error.size(0)));
    case projects::Objective::MeanSquaredError:
        return sumOfAll(error * error) / static_cast<double>(error.numel());
    case projects::Objective::NextToken:
        break;
    }
    TORCH_CHECK(false, "unknown objective");
}

} // namespace residua::engine
