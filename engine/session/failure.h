// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace residua::engine {

/// An exception of LibTorch, CUDA or the standard library, as text for a person: what failed, in words of ours.
struct Failure {
    enum class Kind { OutOfMemory, Other } kind = Kind::Other;
    std::string text; ///< one line
};

/// Runs `work`; whatever it throws stops here. Nothing when it ended well.
[[nodiscard]] std::optional<Failure> attempt(const std::function<void()>& work);

} // namespace residua::engine
