// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/own_library.h"

#include <cstdlib>

namespace residua::engine {

std::filesystem::path findOwnLibrary(const std::string& file, const char* environment, const std::string& folder)
{
    std::error_code ignored;
    if (const char* const named = std::getenv(environment)) {
        return std::filesystem::exists(named, ignored) ? named : std::filesystem::path();
    }
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
    for (const std::string& place :
         {std::string("."), std::string("../lib/residua"), std::string("../lib"), "../" + folder, "../../" + folder}) {
        const std::filesystem::path path = program / place / file;
        if (std::filesystem::exists(path, ignored)) {
            return path;
        }
    }
    return {};
}

} // namespace residua::engine
