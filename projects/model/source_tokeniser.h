// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/data_source.h"

namespace residua::projects {

/// The tokeniser of a source whose text is cut by one; nullptr where it is another.
[[nodiscard]] const Tokeniser* tokeniserOf(const Source& source);
[[nodiscard]] Tokeniser* tokeniserOf(Source& source);

} // namespace residua::projects
