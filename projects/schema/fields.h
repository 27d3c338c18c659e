// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/field.h"
#include "projects/model/project.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace residua::projects {

/// The fields of a document one by one, for code that shows, checks or sets them without knowing the structs. Pointers
/// are JSON pointers into project.json (RFC 6901). Pure functions; any thread.

enum class FieldType {
    Flag,
    Integer,
    Real,
    Text,
    Choice, ///< one of the schema's choices; the value is the index of the choice
    Other,  ///< a list, a map or a value with a form of its own
};

/// The value of a field; monostate for type Other.
using FieldScalar = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

/// A field of a document: its description in the schema and its value.
struct FieldEntry {
    Field field;
    std::string pointer; ///< "/training/learning_rate/peak"; for a choice of alternatives, "/data/source/kind"
    std::string place;   ///< for people: "training · learning rate · peak"
    std::string group;   ///< its heading; may be empty
    FieldType type = FieldType::Other;
    std::span<const Choice> choices; ///< for a Choice
    FieldScalar value;
    FieldScalar defaultValue; ///< the member's initialiser
    bool isInList = false;    ///< true within an entry of a list, "/schedule/stages/0/start"
    Decides decides = Decides::Training;
    bool isIdle = false;      ///< true if it has no effect in the current document
    bool hasOwnEdits = false; ///< true for the stem, a block or the head: the edits of graphs set it
    /// The alternatives that contain the field: pointers of choices, each with the index of the alternative.
    std::vector<std::pair<std::string, std::int64_t>> within;
};

/// Returns the fields at and below `pointer` in the file's order; all fields for an empty pointer.
[[nodiscard]] std::vector<FieldEntry> fieldsOf(const Project& project, std::string_view pointer = {});
[[nodiscard]] std::optional<FieldEntry> findField(const Project& project, std::string_view pointer);
/// Returns the fields at and below the pointer with a number outside their range.
[[nodiscard]] std::vector<FieldEntry> fieldsOutOfRange(const Project& project, std::string_view pointer);

/// Returns the name of the field for people, or of a part of the document: "/schedule" is "schedule". For an unknown
/// pointer, the name of the nearest field above it.
[[nodiscard]] std::string placeOfField(const Project& project, std::string_view pointer);

/// Returns the name without its section: "learning rate · peak".
[[nodiscard]] std::string placeInSection(const Project& project, std::string_view pointer);

/// Returns whether the field at `pointer`, or the nearest one above it, affects the training.
[[nodiscard]] Decides decidesAt(std::string_view pointer);

/// Sets a scalar field, even out of its range. Setting a choice of alternatives gives the new one its defaults. Returns
/// an error if there is no such field, or if the value is not of its type.
[[nodiscard]] Status setField(Project& project, std::string_view pointer, const FieldScalar& value);

/// Checks whether setField() would accept the value, and returns the same error.
[[nodiscard]] Status checkField(const Project& project, std::string_view pointer, const FieldScalar& value);

/// Returns the choices of a shortcut's state in the order of ShortcutState::Kind. The state is an entry of a map, not a
/// field.
[[nodiscard]] std::span<const Choice> shortcutStates();
/// Returns the state in words: "pruned", "frozen at 0.25", "frozen as learned".
[[nodiscard]] std::string spoken(const ShortcutState& state);

/// True if a user can set the field alone. Names that other parts refer to, and the contents of graphs, have edits of
/// their own.
[[nodiscard]] bool isSettable(const FieldEntry& entry);
/// True if a sweep can vary the field: it affects the training, and is not the name of a node or block.
[[nodiscard]] bool isSweepable(const FieldEntry& entry);
/// Returns the pointer of a field typed with dots or as a pointer: "training.batch".
[[nodiscard]] std::string pointerFrom(std::string_view typed);

/// Returns every field that a document can have, with its default as the value: all alternatives of each choice, and
/// one entry of each list, with the index "N".
[[nodiscard]] std::vector<FieldEntry> everyField();
/// Returns the first of everyField() at `pointer`. If alternatives share it, that of the first alternative.
[[nodiscard]] std::optional<FieldEntry> fieldOfSchema(std::string_view pointer);

/// Returns the pointer of everything that changes with the field. For a choice of alternatives, the part that it
/// selects, "/training/optimiser".
[[nodiscard]] std::string wholeOf(const FieldEntry& entry);

/// Returns the help page of all fields of a project in Markdown, made from the schema: pointer, unit, range, choices,
/// default and the papers' value.
[[nodiscard]] std::string fieldReference();

} // namespace residua::projects
