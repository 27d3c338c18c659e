// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/gap.h"

#include <string>

namespace residua::report {

/// How far the factors that a run started with were from the full weights, as a part of its page: a row with a bar for
/// each weight, the first of them where they are many. Empty without a weight.
[[nodiscard]] std::string gapSection(const engine::Gap& gap);

} // namespace residua::report
