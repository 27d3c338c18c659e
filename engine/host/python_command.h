// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace residua::engine {

/// Returns the Python that runs exported code: RESIDUA_PYTHON, or else the one that packaging/python.sh has installed
/// in the user's cache, or else the system's.
[[nodiscard]] std::string pythonCommand();

} // namespace residua::engine
