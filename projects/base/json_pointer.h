// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/json_tree.h"

#include <string>
#include <string_view>

namespace residua::projects {

/// Private to projects: places in a JSON tree as JSON pointers (RFC 6901), "/training/learning_rate/peak".

/// `key` as a token of a pointer: "a/b" is "a~1b".
[[nodiscard]] std::string pointerToken(std::string_view key);

/// The value at `pointer`; the tree itself for an empty pointer. Errors name the part of the pointer that leads
/// nowhere, and the key that was meant.
[[nodiscard]] Result<JsonValue*> valueAt(JsonValue& tree, std::string_view pointer);

/// Puts `fresh` at `pointer`. A key that an object lacks is added: its reader knows whether it may.
[[nodiscard]] Status setValueAt(JsonValue& tree, std::string_view pointer, JsonValue fresh);

} // namespace residua::projects
