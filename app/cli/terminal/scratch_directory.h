// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/base/scratch_folder.h"

#include <string>

namespace residua::cli {

/// Makes a folder among the system's temporary files. `prefix` names its kind: "residua-bench-". Errors name TMPDIR
/// where that is what is wrong.
[[nodiscard]] Result<ScratchFolder> scratchDirectory(const std::string& prefix);

} // namespace residua::cli
