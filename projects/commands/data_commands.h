// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit/edit.h"

namespace residua::projects {

/// One edit that has the project's text cut by `tokeniser`. Refused where its data is no text.
[[nodiscard]] Result<Edit> useTokeniser(const Project& project, const Tokeniser& tokeniser);

} // namespace residua::projects
