// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
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

namespace residua {

/// Checks of an external JSON text before it is parsed into any tree.

inline constexpr int kDeepestJson = 64; ///< levels; far more than any document or configuration has

/// The place where a text nests too deeply.
struct DeepNesting {
    std::size_t at = 0;  ///< the offset of the first bracket that is too deep
    std::string message; ///< "is nested deeper than 64 levels"
};

/// Checks whether a JSON text nests deeper than `levels`. A recursive reader would exhaust its stack on such a text.
[[nodiscard]] std::optional<DeepNesting> tooDeep(std::string_view text, int levels);

/// Returns a key that occurs twice in an object's `keys`. Readers would silently use only one of its values.
[[nodiscard]] std::optional<std::string_view> keyGivenTwice(std::vector<std::string_view> keys);

} // namespace residua

namespace residua::projects {

/// Places in a JSON tree as JSON pointers (RFC 6901), such as "/training/learning_rate/peak".

/// Escapes `key` as a token of a pointer: "a/b" becomes "a~1b".
[[nodiscard]] std::string pointerToken(std::string_view key);

/// Splits a pointer into its tokens and unescapes "~1" and "~0": "/data/a~1b" gives "data" and "a/b".
[[nodiscard]] std::vector<std::string> tokensOf(std::string_view pointer);

/// Returns the value at `pointer`; an empty pointer gives the tree itself. The error names the part of the pointer that
/// was not found, and suggests a key.
[[nodiscard]] Result<JsonValue*> valueAt(JsonValue& tree, std::string_view pointer);

/// Sets the value at `pointer`. Adds the objects and keys that are absent on the way; the reader of the tree checks
/// later whether they are allowed. Returns an error if an entry of a list is absent.
[[nodiscard]] Status setValueAt(JsonValue& tree, std::string_view pointer, JsonValue fresh);

} // namespace residua::projects
