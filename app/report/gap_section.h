// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/gap.h"

#include <string>

namespace residua::report {

/// Returns the distance of a run's initial factors from the full weights as a part of its page: a row with a bar for
/// each weight, limited to the first ones. Empty without weights.
[[nodiscard]] std::string gapSection(const engine::Gap& gap);

} // namespace residua::report
