// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/check/validate.h"

#include <cstdint>
#include <vector>

namespace residua::projects {

/// The most layers, or halves of layers, that a mix reads. The mixing kernels also read the stack's input.
inline constexpr std::int64_t kMostMixedLayers = 511;

/// Returns an error for each part of the document that the engine cannot run yet. This is the only such list: remove a
/// line when the engine supports it.
[[nodiscard]] std::vector<Problem> unsupported(const Project& project);

} // namespace residua::projects
