// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/files.h"
#include "projects/base/result.h"

#include <string>

namespace residua::engine {

/// Refuses a file that Git LFS has left in the place of the one that is wanted: a checkout without git lfs has a few
/// lines of text there. `what` it should be: "the Parquet file". Reads its beginning. Any thread.
[[nodiscard]] Status refuseLfsPointer(const InputFile& file, const std::string& what);

} // namespace residua::engine
