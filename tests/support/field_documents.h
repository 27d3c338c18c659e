// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/schema/fields.h"

#include <vector>

namespace residua::tests {

/// A document that has the field of everyField(): its alternatives chosen, and an entry in each of its lists.
[[nodiscard]] projects::Project documentWith(const projects::FieldEntry& entry);
/// The same field in that document.
[[nodiscard]] projects::FieldEntry fieldIn(const projects::Project& project, const projects::FieldEntry& entry);
/// Another value of the field's type, in its range.
[[nodiscard]] projects::FieldScalar otherValue(const projects::FieldEntry& entry);

/// A number at an end of a range, or just beyond it.
struct FieldEnd {
    double value = 0;
    bool accepted = true;
};
/// The number as a value of the field's type.
[[nodiscard]] projects::FieldScalar numberFor(const projects::FieldEntry& entry, double value);
/// None for a field that holds no number, or has no ends.
[[nodiscard]] std::vector<FieldEnd> endsOf(const projects::FieldEntry& entry);

} // namespace residua::tests
