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

/// `text` is what an allocator said: how much was asked for at once, where it says so.
[[nodiscard]] Failure noMemory(std::string_view text);
/// What an exception of `whose` said, of which the first line is told; of memory that is short too.
[[nodiscard]] Failure failureOf(std::string_view text, const std::string& whose);

/// Runs `work`; whatever it throws stops here, told as the standard library's. Nothing when it ended well. For work
/// that uses LibTorch: engine/session/failure.h.
[[nodiscard]] std::optional<Failure> attemptStandard(const std::function<void()>& work);

} // namespace residua::engine
