// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit/edit.h"
#include "projects/schema/fields.h"

#include <string_view>

namespace residua::projects {

/// The edit that sets the field at `pointer`, in its range or not. Errors where there is no such field, the value is
/// not of its type, or the field is one of a graph, which has edits of its own. The full-model phase of a schedule with
/// stages moves their borders too (withFullModelSteps).
[[nodiscard]] Result<Edit> fieldEdit(const Project& project, std::string_view pointer, const FieldScalar& value);

} // namespace residua::projects
