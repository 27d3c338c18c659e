// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace residua::engine {

/// An exception as text for a person: what failed, in words of ours.
struct Failure {
    enum class Kind { OutOfMemory, Other } kind = Kind::Other;
    std::string text; ///< one line
};

/// A lack of memory. `text` is what an allocator said; how much was asked for at once is taken from it, where it says
/// so.
[[nodiscard]] Failure noMemory(std::string_view text);
/// The failure of which an exception of `whose` said `text`: its first line, or a lack of memory where it says that.
[[nodiscard]] Failure failureOf(std::string_view text, const std::string& whose);

/// Runs `work`; whatever it throws stops here, told as the standard library's. Nothing when it ended well. For work
/// that uses LibTorch: engine/runtime/failure.h.
[[nodiscard]] std::optional<Failure> attemptStandard(const std::function<void()>& work);

} // namespace residua::engine
