// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/project.h"
#include "projects/schema/field.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace residua::projects {

/// The fields of a document one by one, for whoever shows, checks or sets them without knowing the structs. Pointers
/// are JSON pointers into project.json (RFC 6901). Pure; any thread.

enum class FieldType {
    Flag,
    Integer,
    Real,
    Text,
    Choice, ///< one of the schema's choices; its value is the place among them
    Other,  ///< a list, a map or a value of a form of its own
};

/// What a field holds. Nothing where it is of type Other.
using FieldScalar = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

/// A field where it stands: its line in the schema, and what it holds.
struct FieldEntry {
    Field field;
    std::string pointer; ///< "/training/learning_rate/peak"; of a choice of alternatives, "/data/source/kind"
    std::string place;   ///< for people: "training · learning rate · peak"
    std::string group;   ///< the heading that it stands under; may be empty
    FieldType type = FieldType::Other;
    std::span<const Choice> choices; ///< of a Choice
    FieldScalar value;
    FieldScalar defaultValue; ///< the member's initialiser
    bool isInList = false;    ///< of an entry of a list, "/schedule/stages/0/start"
    Decides decides = Decides::Training;
    bool isIdle = false;      ///< it changes nothing as the rest of the document is
    bool hasOwnEdits = false; ///< of the stem, a block or the head: the edits of graphs set it
    /// The alternatives that have the field: pointers of choices, each with the place among its choices.
    std::vector<std::pair<std::string, std::int64_t>> within;
};

/// The fields at `pointer` and below it, in the file's order; all fields for an empty pointer.
[[nodiscard]] std::vector<FieldEntry> fieldsOf(const Project& project, std::string_view pointer = {});
[[nodiscard]] std::optional<FieldEntry> findField(const Project& project, std::string_view pointer);
/// The fields at and below the pointer that hold a number outside their range.
[[nodiscard]] std::vector<FieldEntry> fieldsOutOfRange(const Project& project, std::string_view pointer);

/// The field's name for people; for a part of the document too: "/schedule" is "schedule". Where `pointer` leads
/// nowhere, those of what is nearest above it.
[[nodiscard]] std::string placeOfField(const Project& project, std::string_view pointer);

/// The same without the section that it begins with: "learning rate · peak".
[[nodiscard]] std::string placeInSection(const Project& project, std::string_view pointer);

/// Whether what is at `pointer` decides what is trained, as the schema says of it or of what is nearest above it.
[[nodiscard]] Decides decidesAt(std::string_view pointer);

/// Sets a scalar field as it is, in its range or not; a choice of alternatives begins with the defaults of the new one.
/// Errors where there is no such field, or the value is not of its type.
[[nodiscard]] Status setField(Project& project, std::string_view pointer, const FieldScalar& value);

/// Whether setField() would take the value; the error is its.
[[nodiscard]] Status checkField(const Project& project, std::string_view pointer, const FieldScalar& value);

/// The choices of a single shortcut's state, which is no field but an entry of a map, in the order of ShortcutState.
[[nodiscard]] std::span<const Choice> shortcutStates();

/// Whether a person sets it as a value of its own. Names that other things call a part by, and what graphs hold, have
/// edits of their own.
[[nodiscard]] bool isSettable(const FieldEntry& entry);
/// Whether a sweep can vary it: it decides what is trained, and no node or block is called by it.
[[nodiscard]] bool isSweepable(const FieldEntry& entry);
/// The pointer that is meant by a field's name as it is typed, with dots or as a pointer: "training.batch".
[[nodiscard]] std::string pointerFrom(std::string_view typed);

/// Every field that a document can have, with its default as the value: all alternatives of each choice, and one entry
/// of each list, whose index is written "N".
[[nodiscard]] std::vector<FieldEntry> everyField();
/// The first of them at `pointer`; of alternatives that share it, that of the first.
[[nodiscard]] std::optional<FieldEntry> fieldOfSchema(std::string_view pointer);

/// The pointer of all that changes with the field: of a choice of alternatives the part that it chooses,
/// "/training/optimiser".
[[nodiscard]] std::string wholeOf(const FieldEntry& entry);

} // namespace residua::projects
