// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace residua::engine {

/// Returns 32 hexadecimal digits that no other project or run has, from the system's source of randomness.
[[nodiscard]] std::string newIdentity();
/// True if the text is such an identity.
[[nodiscard]] bool isIdentity(const std::string& text);

} // namespace residua::engine
