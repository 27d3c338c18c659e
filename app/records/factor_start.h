// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <optional>

namespace residua::app {

/// Returns the start of the factors of a project's weights; nullopt if all weights have full rank.
[[nodiscard]] std::optional<projects::LowRankMethod> startOfFactors(const projects::Project& project);

} // namespace residua::app
