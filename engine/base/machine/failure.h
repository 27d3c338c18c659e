// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace residua::engine {

/// The description of an exception for the user.
struct Failure {
    enum class Kind { OutOfMemory, Other } kind = Kind::Other;
    std::string text; ///< one line
};

/// Returns a failure for lack of memory. `text` is an allocator's message; if it names the amount, the failure does
/// too.
[[nodiscard]] Failure noMemory(std::string_view text);
/// Returns the failure for an exception with the message `text` from the library `whose`: its first line, or a lack of
/// memory if the message says so.
[[nodiscard]] Failure failureOf(std::string_view text, const std::string& whose);

/// Runs `work` and catches all exceptions; returns nullopt on success. Describes exceptions as the standard library's;
/// for work that uses LibTorch, see engine/compute/runtime/cuda_backend.h.
[[nodiscard]] std::optional<Failure> attemptStandard(const std::function<void()>& work);

} // namespace residua::engine
