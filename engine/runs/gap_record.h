// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/gap.h"
#include "projects/base/result.h"

#include <filesystem>
#include <optional>

namespace residua::engine {

/// Writes gap.json of a run: the errors of its initial factors against the full weights, for one method.
[[nodiscard]] Status writeGap(const std::filesystem::path& runDirectory, const Gap& gap);
/// Reads gap.json; nullopt if the run has none. Errors name the field, its value and the expected one.
[[nodiscard]] Result<std::optional<Gap>> readGap(const std::filesystem::path& runDirectory);

} // namespace residua::engine
