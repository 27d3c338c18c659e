// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/json_tree.h"

#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// Places in a JSON tree as JSON pointers (RFC 6901), such as "/training/learning_rate/peak".

/// Escapes `key` as a token of a pointer: "a/b" becomes "a~1b".
[[nodiscard]] std::string pointerToken(std::string_view key);

/// Splits a pointer into its tokens and unescapes "~1" and "~0": "/data/a~1b" gives "data" and "a/b".
[[nodiscard]] std::vector<std::string> tokensOf(std::string_view pointer);

/// Returns the value at `pointer`; an empty pointer gives the tree itself. The error names the part of the pointer that
/// was not found, and suggests a key.
[[nodiscard]] Result<JsonValue*> valueAt(JsonValue& tree, std::string_view pointer);

/// Sets the value at `pointer`. Adds the last key if the object lacks it; the reader of the tree checks later whether
/// the key is allowed.
[[nodiscard]] Status setValueAt(JsonValue& tree, std::string_view pointer, JsonValue fresh);

} // namespace residua::projects
