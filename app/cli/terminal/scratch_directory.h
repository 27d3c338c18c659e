// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/base/scratch_folder.h"

#include <string>

namespace residua::cli {

/// Makes a folder among the system's temporary files. `prefix` names its purpose: "residua-bench-". The error names
/// TMPDIR if that is the cause.
[[nodiscard]] Result<ScratchFolder> scratchDirectory(const std::string& prefix);

} // namespace residua::cli
