// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/graph/activation_function.h"

#include "engine/runtime/fixed_bits.h"

#include <ATen/ops/relu.h>
#include <ATen/ops/tanh.h>

#include <utility>

namespace residua::engine {
namespace {

at::Tensor unchanged(const at::Tensor& x)
{
    return x;
}

} // namespace

ActivationFunction activationFunction(std::string_view name)
{
    static constexpr std::pair<std::string_view, ActivationFunction> kFunctions[] = {
        {"relu", at::relu}, {"gelu", gelu},       {"gelu_tanh", geluTanh}, {"silu", silu},
        {"tanh", at::tanh}, {"sigmoid", sigmoid}, {"identity", unchanged},
    };
    for (const auto& [each, function] : kFunctions) {
        if (each == name) {
            return function;
        }
    }
    return nullptr;
}

} // namespace residua::engine
