// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace residua::projects {

/// A study of a project, stored in it: the same document is trained once for each point of a grid. These are values
/// only; sweep_grid.h makes the grid.

inline constexpr std::size_t kMaxSweepAxes = 3;
inline constexpr std::size_t kMaxSweepMembers = 512;

/// A JSON value as text on one line: `0.5`, `"plain"`, `{"kind": "all"}`. Text that is not JSON is a string. Files
/// contain the value, not the text.
struct FieldValue {
    std::string json = "null";
    bool operator==(const FieldValue&) const = default;
};

struct SweepValue {
    std::string label; ///< for tables and directory names; if empty, the value's text without quotes
    FieldValue value;
    bool operator==(const SweepValue&) const = default;
};

/// The `field` of an axis that sets several fields at once. Its values are objects from pointers to values.
inline constexpr const char* kSeveralFields = "/";

/// A field of the document and its values.
struct SweepAxis {
    /// JSON pointer: "/training/learning_rate/peak", "/network/stack/0/repeat", "/topology/wiring/temperature",
    /// "/seeds/init", or a whole part. "/topology" also takes texts, for topologyFrom.
    std::string field;
    std::string label; ///< if empty, the last word of the field
    std::vector<SweepValue> values;
    bool operator==(const SweepAxis&) const = default;
};

struct Sweep {
    std::string name;
    std::vector<SweepAxis> axes; ///< 1 to kMaxSweepAxes; the last varies fastest
    bool operator==(const Sweep&) const = default;
};

/// Returns the label for people, which is never empty.
[[nodiscard]] std::string labelOf(const SweepAxis& axis);
[[nodiscard]] std::string labelOf(const SweepValue& value);

/// Returns the first sweep with this name, or null.
[[nodiscard]] const Sweep* findSweep(const std::vector<Sweep>& sweeps, const std::string& name);

/// Parses "/seeds/init=1,2,3" as an axis. Commas inside brackets or quotes do not separate. The values are empty if the
/// text has another form.
[[nodiscard]] SweepAxis axisFrom(const std::string& text);

/// Parses typed values such as "0.5, 1, plain". The text is split as in axisFrom(). Each value gets the form in which
/// files are read; a value that is not JSON becomes a string. Empty values are skipped.
[[nodiscard]] std::vector<SweepValue> sweepValuesFrom(const std::string& text);

} // namespace residua::projects
