// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit/edit.h"
#include "projects/schema/fields.h"

#include <string_view>

namespace residua::projects {

/// Returns the edit that sets the field at `pointer`, even out of its range. Returns an error if there is no such
/// field, if the value is not of its type, or if it is a field of a graph, which has edits of its own. Setting the
/// full-model phase of a schedule with stages moves their borders too (withFullModelSteps).
[[nodiscard]] Result<Edit> fieldEdit(const Project& project, std::string_view pointer, const FieldScalar& value);

} // namespace residua::projects
