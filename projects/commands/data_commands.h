// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit/edit.h"

namespace residua::projects {

/// Returns the edit that makes `tokeniser` the tokeniser of the project's text. Returns an error if its data is not
/// text.
[[nodiscard]] Result<Edit> useTokeniser(const Project& project, const Tokeniser& tokeniser);

} // namespace residua::projects
