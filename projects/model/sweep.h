// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace residua::projects {

/// A study of a project, stored in it: the same document trained once for each point of a grid. Values only;
/// sweep_grid.h makes the grid.

inline constexpr std::size_t kMaxSweepAxes = 3;
inline constexpr std::size_t kMaxSweepMembers = 512;

/// A JSON value, as its text on one line: `0.5`, `"plain"`, `{"kind": "all"}`. Text that is no JSON stands for itself
/// as a string. Files hold the value, not the text.
struct FieldValue {
    std::string json = "null";
    bool operator==(const FieldValue&) const = default;
};

struct SweepValue {
    std::string label; ///< in tables and directory names; empty: the value's text, without quotes
    FieldValue value;
    bool operator==(const SweepValue&) const = default;
};

/// An axis' field over several at once: its values are objects of fields by their pointers.
inline constexpr const char* kSeveralFields = "/";

/// A field of the document and the values it takes.
struct SweepAxis {
    /// JSON pointer: "/training/learning_rate/peak", "/network/stack/0/repeat", "/topology/wiring/temperature",
    /// "/seeds/init", or a whole part. "/topology" also takes texts, for topologyFrom.
    std::string field;
    std::string label; ///< empty: the field's last word
    std::vector<SweepValue> values;
    bool operator==(const SweepAxis&) const = default;
};

struct Sweep {
    std::string name;
    std::vector<SweepAxis> axes; ///< 1 to kMaxSweepAxes; the last varies fastest
    bool operator==(const Sweep&) const = default;
};

/// What people read: never empty.
[[nodiscard]] std::string labelOf(const SweepAxis& axis);
[[nodiscard]] std::string labelOf(const SweepValue& value);

/// The first of that name; nullptr where there is none.
[[nodiscard]] const Sweep* findSweep(const std::vector<Sweep>& sweeps, const std::string& name);

/// "/seeds/init=1,2,3" as an axis. Commas inside brackets or quotes do not separate. Empty values for text that is not
/// so.
[[nodiscard]] SweepAxis axisFrom(const std::string& text);

/// Values as a person types them, "0.5, 1, plain": split as in axisFrom, each in the form in which files are read, what
/// is no JSON as a string. What is empty is left out.
[[nodiscard]] std::vector<SweepValue> sweepValuesFrom(const std::string& text);

} // namespace residua::projects
