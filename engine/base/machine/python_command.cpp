// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/machine/machine.h"

#include <cstdlib>
#include <filesystem>

#include <unistd.h>

namespace residua::engine {

std::string pythonCommand()
{
    if (const char* const named = std::getenv("RESIDUA_PYTHON"); named != nullptr && *named != '\0') {
        return named;
    }
    const std::filesystem::path folder = userCacheFolder();
    const std::filesystem::path installed = folder / "python" / "bin" / "python3";
    return !folder.empty() && ::access(installed.c_str(), X_OK) == 0 ? installed.string() : "python3";
}

} // namespace residua::engine
