// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/json_tree.h"

#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// Places in a JSON tree as JSON pointers (RFC 6901), "/training/learning_rate/peak".

/// `key` as a token of a pointer: "a/b" is "a~1b".
[[nodiscard]] std::string pointerToken(std::string_view key);

/// The tokens of a pointer with "~1" and "~0" undone: of "/data/a~1b" they are data and a/b.
[[nodiscard]] std::vector<std::string> tokensOf(std::string_view pointer);

/// The value at `pointer`; the tree itself for an empty pointer. Errors name the part of the pointer that leads
/// nowhere, and the key that was meant.
[[nodiscard]] Result<JsonValue*> valueAt(JsonValue& tree, std::string_view pointer);

/// Puts `fresh` at `pointer`. A key that an object lacks is added; whether it may stand there is
/// checked when the tree is read.
[[nodiscard]] Status setValueAt(JsonValue& tree, std::string_view pointer, JsonValue fresh);

} // namespace residua::projects
