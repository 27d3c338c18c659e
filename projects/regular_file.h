// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/result.h"

#include <filesystem>

namespace residua::projects {

/// Opens a regular file for reading; the descriptor is the caller's to close. A folder, FIFO, socket or device is an
/// error that names it, at once: nothing waits for a writer, and no device is touched.
[[nodiscard]] Result<int> openRegularFile(const std::filesystem::path& path);

} // namespace residua::projects
