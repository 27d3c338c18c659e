// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/gap.h"
#include "projects/base/result.h"

#include <filesystem>
#include <optional>

namespace residua::engine {

/// gap.json of a run: how far the factors that it started with were from the full weights, one method's.
[[nodiscard]] Status writeGap(const std::filesystem::path& runDirectory, const Gap& gap);
/// nullopt where the run has none. Errors name the field, what it is and what was expected.
[[nodiscard]] Result<std::optional<Gap>> readGap(const std::filesystem::path& runDirectory);

} // namespace residua::engine
