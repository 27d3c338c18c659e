// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/nodes/activations.h"

#include <algorithm>
#include <array>

namespace residua::projects {
namespace {

constexpr std::array kActivations{
    Activation{"relu", "F.relu", "", "relu", ActivationKeeps::Output},
    Activation{"gelu", "F.gelu", "", "gelu"},
    Activation{"gelu_tanh", "F.gelu", "approximate=\"tanh\"", "gelu"}, // the two gelus differ by less than 0.0005
    Activation{"silu", "F.silu", "", "silu"},
    Activation{"tanh", "torch.tanh", "", "", ActivationKeeps::Output},
    Activation{"sigmoid", "torch.sigmoid", "", "", ActivationKeeps::Output},
    Activation{"identity", "", "", "identity", ActivationKeeps::Nothing},
};

} // namespace

std::span<const Activation> activations()
{
    return kActivations;
}

const Activation* findActivation(std::string_view name)
{
    const auto* const found = std::ranges::find(kActivations, name, &Activation::name);
    return found == kActivations.end() ? nullptr : found;
}

} // namespace residua::projects
