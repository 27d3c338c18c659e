// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <optional>

namespace residua::app {

/// How the factors of a project's weights start; nullopt where all its weights are whole.
[[nodiscard]] std::optional<projects::LowRankMethod> startOfFactors(const projects::Project& project);

} // namespace residua::app
