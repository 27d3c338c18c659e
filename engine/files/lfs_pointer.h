// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/files.h"
#include "projects/base/result.h"

#include <string>

namespace residua::engine {

/// Returns an error if the file is a Git LFS pointer: the few lines of text that a checkout without git lfs leaves in
/// place of the file. `what` names the expected content in the message: "the Parquet file". Reads the beginning of the
/// file. Any thread.
[[nodiscard]] Status refuseLfsPointer(const InputFile& file, const std::string& what);

} // namespace residua::engine
