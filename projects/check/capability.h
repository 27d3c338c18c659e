// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/check/validate.h"

#include <vector>

namespace residua::projects {

/// What the document says and the engine cannot run yet, each as an error. The one list of it: a line goes
/// when the engine learns what it names.
[[nodiscard]] std::vector<Problem> unsupported(const Project& project);

} // namespace residua::projects
