// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/graph/operator.h"

#include <ATen/ops/gelu.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/tanh.h>

#include <utility>

namespace residua::engine {
namespace {

at::Tensor gelu(const at::Tensor& x)
{
    return at::gelu(x);
}

at::Tensor geluTanh(const at::Tensor& x)
{
    return at::gelu(x, "tanh");
}

at::Tensor unchanged(const at::Tensor& x)
{
    return x;
}

} // namespace

ActivationFunction activationFunction(std::string_view name)
{
    static constexpr std::pair<std::string_view, ActivationFunction> kFunctions[] = {
        {"relu", at::relu}, {"gelu", gelu},           {"gelu_tanh", geluTanh}, {"silu", at::silu},
        {"tanh", at::tanh}, {"sigmoid", at::sigmoid}, {"identity", unchanged},
    };
    for (const auto& [each, function] : kFunctions) {
        if (each == name) {
            return function;
        }
    }
    return nullptr;
}

} // namespace residua::engine
