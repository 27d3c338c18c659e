// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string_view>

namespace residua::projects {

/// What the backward pass of an activation needs.
enum class ActivationKeeps { Input, Output, Nothing };

/// An activation that a node of kind "activation" applies to each element, with what its readers need to know. What
/// the engine computes for it is in engine/graph/activation_function.h.
struct Activation {
    std::string_view name;
    std::string_view torch;         ///< PyTorch's function; empty: it leaves its argument as it is
    std::string_view torchArgument; ///< that PyTorch's function takes beside the value; may be empty
    /// The activation under which factors of a weight before it are fitted: itself, or one that differs little. Empty:
    /// no method can fit them.
    std::string_view fittedAs;
    ActivationKeeps keeps = ActivationKeeps::Input;
};

/// All, in the order in which they are offered.
[[nodiscard]] std::span<const Activation> activations();
/// nullptr where there is none of this name.
[[nodiscard]] const Activation* findActivation(std::string_view name);

} // namespace residua::projects
