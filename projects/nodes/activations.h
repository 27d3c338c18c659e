// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string_view>

namespace residua::projects {

/// The tensor that the backward pass of an activation needs.
enum class ActivationKeeps { Input, Output, Nothing };

/// An activation that a node of kind "activation" applies to each element, with its properties.
/// engine/compute/graph/operator.h computes it.
struct Activation {
    std::string_view name;
    std::string_view torch;         ///< PyTorch's function; empty for the identity
    std::string_view torchArgument; ///< further argument of PyTorch's function; may be empty
    /// The activation used to fit the factors of a weight before it: the activation itself, or one that differs little.
    /// Empty if no method can fit them.
    std::string_view fittedAs;
    ActivationKeeps keeps = ActivationKeeps::Input;
};

/// Returns all activations in the order in which they are offered.
[[nodiscard]] std::span<const Activation> activations();
/// Returns null if there is no activation with this name.
[[nodiscard]] const Activation* findActivation(std::string_view name);

} // namespace residua::projects
