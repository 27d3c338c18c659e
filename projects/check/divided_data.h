// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/project.h"

// Apart from validate.h, because only the starts of runs over ranks need it.

namespace residua::projects {

/// Returns an error if the document has examples or a loss that several ranks cannot divide.
[[nodiscard]] Status checkDivision(const Project& project);

} // namespace residua::projects
