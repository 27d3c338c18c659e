// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/data_source.h"

namespace residua::projects {

/// Returns the tokeniser of a text source; null for other sources.
[[nodiscard]] const Tokeniser* tokeniserOf(const Source& source);
[[nodiscard]] Tokeniser* tokeniserOf(Source& source);

} // namespace residua::projects
