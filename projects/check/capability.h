// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/check/validate.h"

#include <cstdint>
#include <vector>

namespace residua::projects {

/// Layers, or halves of them, that a mix reads at most: the mixing kernels read one entry more, the stack's input.
inline constexpr std::int64_t kMostMixedLayers = 511;

/// What the document says and the engine cannot run yet, each as an error. The one list of it: a line goes
/// when the engine learns what it names.
[[nodiscard]] std::vector<Problem> unsupported(const Project& project);

} // namespace residua::projects
