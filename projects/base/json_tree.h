// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace residua::projects {

/// A JSON tree that keeps the order of keys. The program has its own tree because files are migrated as trees, repeated
/// keys must be found, and each value records whether it is written on one line.
struct JsonValue;
struct JsonMember;
using JsonArray = std::vector<JsonValue>;
using JsonObject = std::vector<JsonMember>;

enum class JsonLayout {
    Lines,  ///< each child on a line of its own
    Inline, ///< all on one line
};

struct JsonValue {
    std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, JsonArray, JsonObject> data = nullptr;
    JsonLayout layout = JsonLayout::Lines;
};

struct JsonMember {
    std::string key;
    JsonValue value;
};

/// Returns null if `object` is not an object or lacks the key.
[[nodiscard]] JsonValue* findMember(JsonValue& object, std::string_view key);
[[nodiscard]] const JsonValue* findMember(const JsonValue& object, std::string_view key);
/// Removes the member and returns its value, or a null value if the key is missing.
JsonValue takeMember(JsonValue& object, std::string_view key);

/// Names a value for "got …" in a message: `the text "3"`, `a list`.
[[nodiscard]] std::string nameOfValue(const JsonValue& value);

/// Limits that no real project reaches, so that a hostile file gives an error instead of a hang.
inline constexpr std::size_t kMaxJsonBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMaxJsonValues = 4'000'000;

/// Parses a JSON text. A syntax error, or nesting deeper than kDeepestJson, is reported at a line and column; a
/// repeated key is reported at its pointer.
[[nodiscard]] Result<JsonValue> parseJson(std::string_view text);
/// Formats the tree with two spaces per level, UTF-8, doubles in the shortest form that reads back to the same bits,
/// and a newline at the end.
[[nodiscard]] std::string printJson(const JsonValue& value);

/// Formats the tree on one line, without a newline.
[[nodiscard]] std::string lineOf(JsonValue value);

/// The place of a value in a tree, as a chain on the stack. It is formatted only for an error.
struct JsonPlace {
    const JsonPlace* parent = nullptr;
    std::string_view key;
    std::size_t index = SIZE_MAX; ///< index in a list; SIZE_MAX if the place is that of `key`

    /// Formats the place as a JSON pointer. The root, whose pointer is empty, gives "document".
    [[nodiscard]] std::string text() const;
};

} // namespace residua::projects
