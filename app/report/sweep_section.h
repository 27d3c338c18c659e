// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"

#include <span>
#include <string>

namespace residua::report {

/// Returns HTML with the evaluation of each sweep that the runs belong to: the best values of the axes that set the
/// training for each point of the others, and the share of the variance that each axis explains. Empty if no sweep has
/// enough finished runs.
[[nodiscard]] std::string sweepSections(std::span<const engine::RunInfo> runs);

} // namespace residua::report
