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

/// JSON as a tree that keeps the order of keys. A tree of its own because a file is migrated as a tree, repeated keys
/// must be found, and each value knows whether it is written on one line.
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

/// nullptr where `object` is no object or lacks the key.
[[nodiscard]] JsonValue* findMember(JsonValue& object, std::string_view key);
[[nodiscard]] const JsonValue* findMember(const JsonValue& object, std::string_view key);
/// Removes the member and returns it; a null value where there is none.
JsonValue takeMember(JsonValue& object, std::string_view key);

/// What a message says was got: `the text "3"`, `a list`.
[[nodiscard]] std::string nameOfValue(const JsonValue& value);

/// Limits that no honest project reaches, so that a hostile file ends in an error and not in a hang.
inline constexpr std::size_t kMaxJsonBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMaxJsonValues = 4'000'000;

/// Reads a text as JSON. A syntax error, or what is nested deeper than kDeepestJson, is placed at "line 3, column 7"; a
/// repeated key at its pointer.
[[nodiscard]] Result<JsonValue> parseJson(std::string_view text);
/// The tree as text: two spaces a level, UTF-8, doubles in the shortest form that reads back to the same bits, a
/// newline at the end.
[[nodiscard]] std::string printJson(const JsonValue& value);

/// The tree as text on one line, without a newline.
[[nodiscard]] std::string lineOf(JsonValue value);

/// The place of a value in a tree, kept as a chain on the stack: it becomes a text only for an error.
struct JsonPlace {
    const JsonPlace* parent = nullptr;
    std::string_view key;
    std::size_t index = SIZE_MAX; ///< in a list; SIZE_MAX: `key` counts

    /// The place as a JSON pointer; "document" for the root, whose pointer is empty.
    [[nodiscard]] std::string text() const;
};

} // namespace residua::projects
