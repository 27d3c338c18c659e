// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace residua::engine {

/// Returns 32 random hexadecimal digits from the system's random device, unique to a project or run.
[[nodiscard]] std::string newIdentity();
/// True if the text has the form of an identity.
[[nodiscard]] bool isIdentity(const std::string& text);

} // namespace residua::engine
