// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace residua::engine {

/// The Python that runs what is exported: the one that RESIDUA_PYTHON names, else the one that packaging/python.sh has
/// installed in the user's cache, else the system's.
[[nodiscard]] std::string pythonCommand();

} // namespace residua::engine
